import type { ComponentProps, ReactNode } from 'react'
import { cn } from '../parts/cn.ts'
import { Button } from './button.tsx'

interface Props extends ComponentProps<typeof Button> {
  /** The list's id, by which the button opens it without script. */
  menu: string
  items: ReactNode
}

/** A button, and the list of links that it opens. */
export const Menu = ({ menu, items, children, ...props }: Props) => (
  <>
    <Button variant="outline" popoverTarget={menu} {...props}>
      {children}
    </Button>
    <ul
      id={menu}
      popover="auto"
      data-slot="menu"
      className="inset-auto m-0 mt-1 min-w-48 rounded-lg border bg-popover p-1 text-[13px] text-foreground shadow-lg [position-area:block-end_span-inline-start]"
    >
      {items}
    </ul>
  </>
)

export const MenuLink = ({ className, itemClass, ...props }: ComponentProps<'a'> & { itemClass?: string | undefined }) => (
  <li className={itemClass}>
    <a
      className={cn(
        'flex h-8 items-center gap-2 rounded-md px-2.5 hover:bg-accent max-sm:h-10 [&_svg]:size-3.5 [&_svg]:shrink-0',
        className,
      )}
      {...props}
    />
  </li>
)
