import { cva, type VariantProps } from 'class-variance-authority'
import type { ComponentProps } from 'react'
import { cn } from '../parts/cn.ts'

const alertVariants = cva('rounded-md border px-3 py-2 text-[13px]', {
  variants: {
    variant: {
      ok: 'border-ok/30 bg-ok/8 text-ok-foreground',
      warn: 'border-warn/40 bg-warn/8 text-warn-foreground',
      destructive: 'border-destructive/30 bg-destructive/8 text-destructive-foreground',
    },
  },
  defaultVariants: { variant: 'warn' },
})

export const Alert = ({ className, variant, ...props }: ComponentProps<'p'> & VariantProps<typeof alertVariants>) => (
  <p data-slot="alert" role="alert" className={cn(alertVariants({ variant }), className)} {...props} />
)
