import { cn } from './cn.ts'

export interface Tab {
  label: string
  href: string
  current: boolean
  /** What its label does not say. */
  title?: string | undefined
}

/** Links between the lists that a page has, of which it shows one. */
export const Tabs = ({ label, tabs }: { label: string; tabs: Tab[] }) => (
  <nav aria-label={label} className="flex w-fit flex-wrap gap-0.5 rounded-md border bg-card p-0.5 shadow-xs">
    {tabs.map((tab) => (
      <a
        key={tab.label}
        href={tab.href}
        title={tab.title}
        aria-current={tab.current ? 'true' : undefined}
        className={cn(
          'flex h-6.5 items-center rounded px-2.5 text-[12.5px] whitespace-nowrap text-muted-foreground hover:text-foreground max-sm:h-9 pointer-coarse:min-h-9',
          tab.current && 'bg-secondary font-medium text-secondary-foreground',
        )}
      >
        {tab.label}
      </a>
    ))}
  </nav>
)
