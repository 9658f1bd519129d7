import type { ComponentProps } from 'react'
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'
import { Input } from '../ui/input.tsx'

/** A search field with a magnifying glass. Its parent must be `relative`. */
export const SearchBox = ({ className, ...props }: ComponentProps<'input'>) => (
  <>
    <Icon name="search" className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-3.5 text-muted-foreground" />
    <Input type="search" name="q" maxLength={4096} className={cn('pl-8', className)} {...props} />
  </>
)
