import { cn } from './cn.ts'

export interface Tab {
  label: string
  href: string
  current: boolean
}

/** Links between the lists that a page has, of which it shows one. */
export const Tabs = ({ label, tabs }: { label: string; tabs: Tab[] }) => (
  <nav aria-label={label} className="flex w-fit flex-wrap gap-0.5 rounded-md border bg-card p-0.5 shadow-xs">
    {tabs.map((tab) => (
      <a
        key={tab.label}
        href={tab.href}
        aria-current={tab.current ? 'page' : undefined}
        className={cn(
          'flex h-7 items-center rounded px-2.5 text-[12.5px] text-muted-foreground hover:text-foreground max-sm:h-9 pointer-coarse:min-h-9',
          tab.current && 'bg-secondary font-medium text-secondary-foreground',
        )}
      >
        {tab.label}
      </a>
    ))}
  </nav>
)
