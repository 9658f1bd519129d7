import { cva, type VariantProps } from 'class-variance-authority'
import type { ComponentProps } from 'react'
import { cn } from '../parts/cn.ts'

export const buttonVariants = cva(
  'inline-flex shrink-0 cursor-pointer items-center justify-center gap-1.5 rounded-md text-[13px] font-medium whitespace-nowrap transition-colors select-none disabled:pointer-events-none disabled:opacity-50 [&_svg]:size-3.5 [&_svg]:shrink-0',
  {
    variants: {
      variant: {
        default: 'bg-primary text-primary-foreground shadow-xs hover:bg-primary/90',
        outline: 'border bg-card text-foreground shadow-xs hover:bg-accent',
        ghost: 'text-muted-foreground hover:bg-accent hover:text-foreground',
      },
      size: {
        default: 'h-8 px-3',
        sm: 'h-7 px-2.5 text-xs',
        icon: 'size-8 [&_svg]:size-4',
      },
    },
    defaultVariants: { variant: 'default', size: 'default' },
  },
)

type ButtonVariants = VariantProps<typeof buttonVariants>

export const Button = ({ className, variant, size, type = 'button', ...props }: ComponentProps<'button'> & ButtonVariants) => (
  <button data-slot="button" type={type} className={cn(buttonVariants({ variant, size }), className)} {...props} />
)

export const LinkButton = ({ className, variant, size, ...props }: ComponentProps<'a'> & ButtonVariants) => (
  <a data-slot="button" className={cn(buttonVariants({ variant, size }), className)} {...props} />
)
