import type { ComponentProps } from 'react'
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'
import { Input } from '../ui/input.tsx'

/** A search field with a magnifying glass. Its parent must be `relative`. */
export const SearchBox = ({ className, ...props }: ComponentProps<'input'>) => (
  <>
    <Icon name="search" className="pointer-events-none absolute top-2.25 left-2.5 size-3.5 text-muted-foreground max-sm:top-2.75" />
    <Input type="search" name="q" maxLength={4096} className={cn('pl-8', className)} {...props} />
  </>
)
