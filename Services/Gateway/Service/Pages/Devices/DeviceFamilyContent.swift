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
