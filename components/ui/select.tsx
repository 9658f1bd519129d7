import type { ComponentProps } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'

/** `text` is the value itself unless it is given. */
export interface Option {
  value: string
  text?: string
  disabled?: boolean
}

export const Select = ({ className, options, ...props }: ComponentProps<'select'> & { options: Option[] }) => (
  <span className="relative block">
    <select
      data-slot="select"
      className={cn(
        'h-8 w-full min-w-0 cursor-pointer appearance-none truncate rounded-md border bg-card pr-7 pl-2 text-[13px] shadow-xs outline-none focus-visible:border-ring focus-visible:ring-2 focus-visible:ring-ring/40 max-sm:h-9 max-sm:text-base',
        className,
      )}
      {...props}
    >
      {options.map(({ value, text = value, disabled }) => (
        <option key={value} value={value} disabled={disabled}>
          {escapeInvisible(text)}
        </option>
      ))}
    </select>
    <Icon name="chevron" className="pointer-events-none absolute inset-y-0 right-2 my-auto size-3.5 rotate-90 text-muted-foreground" />
  </span>
)
