import type { ComponentProps } from 'react'
import { cn } from '../parts/cn.ts'

export const Table = ({ className, ...props }: ComponentProps<'table'>) => (
  <table data-slot="table" className={cn('w-full text-[13px]', className)} {...props} />
)

export const TableHead = ({ className, ...props }: ComponentProps<'th'>) => (
  <th
    data-slot="table-head"
    scope="col"
    className={cn('border-b px-4 py-1.5 text-left text-[12px] font-medium text-muted-foreground', className)}
    {...props}
  />
)

export const TableCell = ({ className, ...props }: ComponentProps<'td'>) => (
  <td data-slot="table-cell" className={cn('px-4 py-2 align-top', className)} {...props} />
)
