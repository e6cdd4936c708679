internal import Clocks
internal import Contracts

/// One opt-in, as the template wants it.
struct DeviceFamilyContent {
    let values: [String: Any]

    init(_ family: TokenFamily) {
        var values: [String: Any] = [
            "id": family.id, "label": family.deviceLabel.isEmpty ? "A device" : family.deviceLabel, "app": family.bundleID,
            "created": PlainDate(milliseconds: family.createdAtMilliseconds).text,
        ]
        if family.lastUsedAtMilliseconds > 0 { values["used"] = PlainDate(milliseconds: family.lastUsedAtMilliseconds).text }
        if family.state == .pending { values["pending"] = true }
        if family.state == .absent { values["absent"] = true }
        let devices = family.devices.map { device in
            [
                "label": device.label.isEmpty ? "A device" : device.label, "since": PlainDate(milliseconds: device.signedInAtMilliseconds).text,
            ]
        }
        if !devices.isEmpty { values["signedIn"] = ["devices": devices] }
        self.values = values
    }
}

/// A day as people write it, in UTC: the pages know no time zone without a script.
struct PlainDate {
    let text: String

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
    ]

    /// - Parameter milliseconds: Since 1970.
    init(milliseconds: UInt64) {
        let date = CivilDate(daysSince1970: Int(milliseconds / 86_400_000))
        text = "\(date.day) \(Self.months[date.month - 1]) \(date.year)"
    }
}
