import { AboutPage } from '../features/settings/about-page.tsx';
import { SettingsPage } from '../features/settings/settings-page.tsx';
import { Gate } from './gate.tsx';

export function SettingsScreen() {
  return <Gate title="Settings">{() => <SettingsPage />}</Gate>;
}

export function AboutScreen() {
  return <Gate title="About">{() => <AboutPage />}</Gate>;
}
