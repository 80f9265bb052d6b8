// The settings of a realm in the groups of their form.
import { SettingsInput } from '../../../server/contract/settings.ts';
import { settingsForm } from '../../../server/contract/settings-form.ts';
import { type FieldGroup, formFields, grouped } from '../../kinds/fields.ts';

export const settingGroups = (): FieldGroup[] =>
  grouped(
    formFields(SettingsInput, { names: { browserFlow: 'flow' }, forms: settingsForm.fields }),
    settingsForm.groups,
  );

/** The group as the address names it. */
export const partOf = ({ title }: FieldGroup): string => title.toLowerCase().replaceAll(' ', '-');

/** Each setting with its words and its group, to be found by them. */
export const settingNames = () =>
  settingGroups().flatMap((group) =>
    group.fields.map(({ name, label, help }) => ({ name, label, help, group: group.title, part: partOf(group) })),
  );
