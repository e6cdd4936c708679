internal import Octets
internal import Foundation

/// The device on which the app runs.
public struct DeviceDescription: Sendable, Hashable {
    /// The kind of sign-in on it.
    public enum Platform: String, Sendable, Hashable, CaseIterable {
        /// Sign-in in a browser on the device.
        case iOS
        /// As `iOS`, on a tablet.
        case iPadOS
        /// Sign-in on a second screen.
        case tvOS

        /// `deviceType` of the calls that ask for it: there is none for iPadOS (client-sdk §1.2).
        var deviceType: String { self == .tvOS ? "tvOS" : "iOS" }
        /// True when a login page can be opened on the device.
        var hasBrowser: Bool { self != .tvOS }
    }

    public var platform: Platform
    /// For example `AppleTV14,1`.
    public var model: String
    /// For example `26.0`.
    public var systemVersion: String
    /// Stable on the device, 1 to 512 printable characters; the server knows the device by it. Hash the values it is made from.
    public var id: String

    /// - Parameters:
    ///   - platform: Decides whether sign-in uses a browser on the device or a second screen.
    ///   - model: For example `AppleTV14,1`.
    ///   - systemVersion: For example `26.0`.
    ///   - id: 1 to 512 printable characters, stable on the device.
    public init(platform: Platform, model: String, systemVersion: String, id: String) {
        self.platform = platform
        self.model = model
        self.systemVersion = systemVersion
        self.id = id
    }

    /// Names the device in a header (rest-v2 §1.3).
    var identifierHeader: HTTPHeader { HTTPHeader("AP-Device-Identifier", "fingerprint \(Data(id.utf8).base64EncodedString())") }

    /// Base64 of the JSON that `X-Device-Info` carries (rest-v1 §2.4, rest-v2 §1.3).
    func information(_ version: RestVersion) -> String {
        let hardware =
            switch platform {
            case .iOS: "MobilePhone"
            case .iPadOS: "Tablet"
            case .tvOS: "SetTopBox"
            }
        var facts = [
            "primaryHardwareType": hardware, "model": model, "manufacturer": "Apple", "vendor": "Apple", "osVendor": "Apple",
            "osName": platform.deviceType, "osFamily": platform.deviceType, "osVersion": systemVersion,
        ]
        if version == .v2 {
            // Version 2 requires both, and takes any text.
            let number = model.drop { !$0.isNumber }.map { $0 == "," ? "." : $0 }
            facts["version"] = number.isEmpty ? systemVersion : String(number)
            facts["connectionType"] = "unknown"
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = (try? encoder.encode(facts)) ?? Data()
        return json.base64EncodedString()
    }

    var tracked: TrackedDevice {
        let type =
            switch platform {
            case .iOS: "mobile"
            case .iPadOS: "tablet"
            case .tvOS: "unknown"
            }
        return TrackedDevice(deviceType: type, system: "\(platform.rawValue) \(systemVersion)")
    }
}
