import { cva, type VariantProps } from 'class-variance-authority'
import type { ComponentProps } from 'react'
import { cn } from '../parts/cn.ts'

const badgeVariants = cva(
  'inline-flex w-fit shrink-0 items-center gap-1.5 rounded-full border px-2 py-px text-[11px] leading-4.5 font-medium whitespace-nowrap [&_svg]:size-3',
  {
    variants: {
      variant: {
        outline: 'text-muted-foreground',
        secondary: 'border-transparent bg-secondary text-secondary-foreground',
        live: 'border-transparent bg-ok/12 text-ok-foreground',
        destructive: 'border-destructive/30 bg-destructive/8 text-destructive-foreground',
        warn: 'border-transparent bg-warn/15 text-warn-foreground',
        concluded: 'border-transparent bg-violet/12 text-violet-foreground',
      },
    },
    defaultVariants: { variant: 'secondary' },
  },
)

export const Badge = ({ className, variant, ...props }: ComponentProps<'span'> & VariantProps<typeof badgeVariants>) => (
  <span data-slot="badge" className={cn(badgeVariants({ variant }), className)} {...props} />
)
