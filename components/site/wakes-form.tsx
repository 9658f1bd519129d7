import { FormField } from '../forms/form-field.tsx'
import { Button } from '../ui/button.tsx'

export interface WakesChoice {
  perHour: number
  most: number
  /** The number was saved on this page. */
  saved: boolean
  /** The number that holds once the saved one is forgotten. */
  otherwise: { perHour: number; configured: boolean }
}

/** The form for how often messages may wake teams that sleep. */
export const WakesForm = ({ perHour, most, saved, otherwise }: WakesChoice) => (
  <form method="post" action="/settings/wakes" className="mx-4 mt-3 grid gap-3 rounded-md border p-3">
    <fieldset className="grid gap-1.5 text-[13px]">
      <legend className="mb-1.5 font-medium">How often messages may wake teams that are asleep</legend>
      <p className="text-[12.5px] text-muted-foreground">
        Each wake costs its person a call of the model. When they are used up, only what is addressed to a team or said by a person wakes
        it, until the hour has passed or a person writes.
      </p>
      <div className="flex flex-wrap items-end gap-3">
        <FormField
          name="wakes_per_hour"
          label="Wakes per session and hour"
          type="number"
          min={0}
          max={most}
          required
          defaultValue={perHour}
          className="w-28"
        />
        <Button type="submit" className="max-sm:h-9">
          Save
        </Button>
      </div>
    </fieldset>
    {saved && (
      <div className="flex flex-wrap items-center gap-2 text-[12.5px] text-muted-foreground">
        <Button type="submit" variant="outline" size="sm" name="reset" value="1" formNoValidate>
          Forget what is set here
        </Button>
        Then it is {otherwise.perHour}, {otherwise.configured ? 'as WAKES_PER_HOUR says' : 'the default'}.
      </div>
    )}
  </form>
)
