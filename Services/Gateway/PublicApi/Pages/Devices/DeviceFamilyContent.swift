internal import Clocks
internal import Contracts

/// One opt-in, as the template wants it.
struct DeviceFamilyContent {
    let values: [String: Any]

    init(_ family: TokenFamily, _ language: PageLanguage) {
        var values: [String: Any] = [
            "id": family.id, "label": Self.label(family.deviceLabel, language), "app": family.bundleID,
            "created": Self.date(family.createdAtMilliseconds, language),
        ]
        if family.lastUsedAtMilliseconds > 0 { values["used"] = Self.date(family.lastUsedAtMilliseconds, language) }
        if family.state == .pending { values["pending"] = true }
        if family.state == .absent { values["absent"] = true }
        let devices = family.devices.map { device in
            ["label": Self.label(device.label, language), "since": Self.date(device.signedInAtMilliseconds, language)]
        }
        if !devices.isEmpty { values["signedIn"] = ["devices": devices] }
        self.values = values
    }

    private static func label(_ label: String, _ language: PageLanguage) -> String {
        label.isEmpty ? language.text("devices.unnamed") : ShownText(label).text
    }

    /// A day in UTC: the pages know no time zone without a script.
    /// - Parameter milliseconds: Since 1970.
    static func date(_ milliseconds: UInt64, _ language: PageLanguage) -> String {
        let date = CivilDate(daysSince1970: Int(milliseconds / 86_400_000))
        return language.date((day: date.day, month: date.month, year: date.year))
    }
}
