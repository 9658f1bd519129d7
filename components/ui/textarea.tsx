import type { ComponentProps } from 'react'
import { cn } from '../parts/cn.ts'

/** Grows in height with its text where the browser supports that; takes the direction of its text. */
export const Textarea = ({ className, ...props }: ComponentProps<'textarea'>) => (
  <textarea
    data-slot="textarea"
    dir="auto"
    className={cn(
      'thin-scroll block field-sizing-content w-full min-w-0 resize-y rounded-md border bg-card px-3 py-1.5 text-[13px] leading-5 shadow-xs outline-none placeholder:text-muted-foreground focus-visible:border-ring focus-visible:ring-2 focus-visible:ring-ring/40 aria-invalid:border-destructive max-sm:text-base',
      className,
    )}
    {...props}
  />
)
