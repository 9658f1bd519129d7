import type { ComponentProps } from 'react'
import { cn } from '../parts/cn.ts'

export const Input = ({ className, ...props }: ComponentProps<'input'>) => (
  <input
    data-slot="input"
    className={cn(
      'h-8 w-full min-w-0 text-ellipsis rounded-md border bg-card px-3 text-[13px] shadow-xs outline-none placeholder:text-muted-foreground focus-visible:border-ring focus-visible:ring-2 focus-visible:ring-ring/40 max-sm:h-9 max-sm:text-base',
      className,
    )}
    {...props}
  />
)
