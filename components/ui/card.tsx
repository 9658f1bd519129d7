import type { ComponentProps } from 'react'
import { cn } from '../parts/cn.ts'

export const Card = ({ className, ...props }: ComponentProps<'section'>) => (
  <section data-slot="card" className={cn('min-w-0 rounded-lg border bg-card text-card-foreground shadow-xs', className)} {...props} />
)

export const CardHeader = ({ className, ...props }: ComponentProps<'div'>) => (
  <div data-slot="card-header" className={cn('flex flex-col gap-1 px-4 pt-4', className)} {...props} />
)

export const CardTitle = ({ className, ...props }: ComponentProps<'h2'>) => (
  <h2 data-slot="card-title" className={cn('text-sm leading-5 font-semibold tracking-tight wrap-anywhere', className)} {...props} />
)

export const CardDescription = ({ className, ...props }: ComponentProps<'p'>) => (
  <p data-slot="card-description" className={cn('text-[13px] text-muted-foreground', className)} {...props} />
)

export const CardContent = ({ className, ...props }: ComponentProps<'div'>) => (
  <div data-slot="card-content" className={cn('px-4 py-4', className)} {...props} />
)
