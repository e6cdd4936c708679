package import Contracts
package import Faults

/// What a device call must say of its device (rest-v1 §2.4, §2.5).
package enum DeviceRules {
    private static let longestID = 512
    private static let longestText = 512

    /// 1 to 512 printable characters; compared as they are.
    /// - Throws: `invalid_device_id`.
    package static func device(_ id: String, allowsPlaceholder: Bool) throws(Fault) -> DeviceID {
        guard !id.isEmpty else { throw Fault(.invalidDeviceID, "Required 'deviceId' is not present") }
        let isPlain = id.utf8.count <= longestID && id.utf8.allSatisfy { (0x20..<0x7f).contains($0) }
        guard isPlain || id.unicodeScalars.count <= longestID && id.unicodeScalars.allSatisfy(isPrintable) else {
            throw Fault(.invalidDeviceID, "The 'deviceId' is not 1 to \(longestID) printable characters.")
        }
        let device = DeviceID(id)
        guard allowsPlaceholder || device != RegistrationCodes.placeholderDevice else {
            throw Fault(.invalidDeviceID, "The 'deviceId' is only good for creating a registration code.")
        }
        return device
    }

    /// - Parameter isRequired: True where the requestor demands it; no client that is known from before sends any (clients §1.1).
    /// - Throws: `invalid_device_info` without model and operating system; `invalid_request` when a text is too long.
    package static func information(_ call: DeviceCall, isRequired: Bool) throws(Fault) -> DeviceInformation {
        let device = call.device ?? DeviceInformation()
        guard !isRequired || !device.model.isEmpty && !device.osName.isEmpty else {
            throw Fault(.invalidDeviceInformation, "The device information lacks 'model' or 'osName', or cannot be read.")
        }
        for (name, text) in [("deviceType", call.deviceType), ("deviceUser", call.deviceUser), ("appId", call.appID)]
        where text.utf8.count > longestText {
            throw Fault(.invalidRequest, "The value of '\(name)' is too long.")
        }
        return device
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value < 0x7f }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return false
        default: return true
        }
    }
}
