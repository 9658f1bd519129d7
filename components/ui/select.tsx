import type { ComponentProps } from 'react'
import { cn } from '../cn.ts'

export const Select = ({ className, ...props }: ComponentProps<'select'>) => (
  <select
    data-slot="select"
    className={cn(
      'h-8 w-full min-w-0 cursor-pointer rounded-md border bg-card px-2 text-[13px] shadow-xs outline-none focus-visible:border-ring focus-visible:ring-2 focus-visible:ring-ring/40 max-sm:h-9 max-sm:text-base',
      className,
    )}
    {...props}
  />
)
