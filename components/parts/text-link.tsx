import type { ComponentProps } from 'react'
import { cn } from './cn.ts'

/** A link within a text. `quiet`: in the colour of the text until one points at it. */
export const TextLink = ({ quiet = false, className, ...props }: ComponentProps<'a'> & { quiet?: boolean }) => (
  <a {...props} className={cn(quiet ? 'hover:text-foreground' : 'text-foreground', 'underline underline-offset-2', className)} />
)
