import type { ComponentProps } from 'react'
import { cn } from '../parts/cn.ts'

export const Label = ({ className, ...props }: ComponentProps<'label'>) => (
  <label data-slot="label" className={cn('text-[13px] leading-5 font-medium', className)} {...props} />
)
