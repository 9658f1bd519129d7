import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'

interface Props {
  action: string
  /** The values were saved on this page. */
  saved: boolean
  /** What holds once they are forgotten, and the variable of the environment that says so, if one does. */
  otherwise: { words: string; variable: string | undefined }
  children: ReactNode
}

/** A form of the settings page whose values are saved, and can be forgotten. */
export const SavedForm = ({ action, saved, otherwise: { words, variable }, children }: Props) => (
  <form method="post" action={action} className="mx-4 mt-4 grid gap-3 rounded-md border p-3">
    {children}
    {saved && (
      <div className="flex flex-wrap items-center gap-2 text-[12.5px] text-muted-foreground">
        <Button type="submit" variant="outline" size="sm" name="reset" value="1" formNoValidate>
          Forget what is set here
        </Button>
        Then it is {words}, {variable ? `as ${variable} says` : 'the default'}.
      </div>
    )}
  </form>
)

/** Its fields in one line, with the button that saves them. */
export const SavedFields = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap items-end gap-3">
    {children}
    <Button type="submit" className="max-sm:h-9">
      Save
    </Button>
  </div>
)
