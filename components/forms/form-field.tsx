import type { ComponentProps } from 'react'
import { Input } from '../ui/input.tsx'
import { Label } from '../ui/label.tsx'
import { Textarea } from '../ui/textarea.tsx'

/** Why a form was not applied; `field` names the field to correct. */
export interface Problem {
  field?: string | undefined
  text: string
  /** Signing in helps; in another tab, so that nothing typed is lost. */
  signIn?: boolean
}

type Control = { rows: number } & ComponentProps<'textarea'>
type Props = { name: string; label: string; hint?: string; problem?: Problem | undefined } & (
  | Control
  | ({ rows?: undefined } & ComponentProps<'input'>)
)

/** A labelled field with its hint and its problem. With `rows` it is a textarea. Its id is its name, where that stands once on the page. */
export const FormField = ({ label, hint, problem, ...control }: Props) => {
  const { name, id = name } = control
  const wrong = problem?.field === name ? problem.text : undefined
  const described = [hint && `${id}-hint`, wrong && `${id}-problem`].filter(Boolean).join(' ')
  const aria = { id, 'aria-invalid': wrong !== undefined || undefined, 'aria-describedby': described || undefined }
  return (
    <div className="grid gap-1">
      <Label htmlFor={id}>{label}</Label>
      {control.rows === undefined ? <Input {...aria} {...control} /> : <Textarea {...aria} {...control} />}
      {hint && (
        <p id={`${id}-hint`} className="text-[12px] text-muted-foreground">
          {hint}
        </p>
      )}
      {wrong && (
        <p id={`${id}-problem`} role="alert" className="text-[12.5px] text-destructive-foreground">
          {wrong}
        </p>
      )}
    </div>
  )
}
