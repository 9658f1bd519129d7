import type { ReactNode } from 'react'

/** A placeholder for a list or text that is empty: an icon, a title, and how to fill it. */
export const Empty = ({ icon, title, children }: { icon: ReactNode; title: string; children?: ReactNode }) => (
  <div data-slot="empty" className="flex flex-col items-center justify-center gap-2 px-4 py-14 text-center sm:px-6">
    <div className="mb-1 grid size-9 place-items-center rounded-lg border bg-muted/60 text-muted-foreground [&_svg]:size-4">{icon}</div>
    <h2 className="text-sm font-medium">{title}</h2>
    <div className="w-full text-[13px] text-balance text-muted-foreground">{children}</div>
  </div>
)
