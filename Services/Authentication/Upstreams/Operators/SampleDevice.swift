internal import BridgeClient
internal import Contracts

/// A device of each platform, that no viewer has.
enum SampleDevice {
    static let model = "boxoffice-check"

    /// Those that upstream's answers may differ for.
    static let platforms: [Platform] = [.ios, .tvos, .roku, .fireTv, .android, .desktop, .otherMobile, .otherTv]

    static func information(_ platform: Platform) -> DeviceInformation {
        var device = DeviceInformation()
        (device.model, device.version, device.osVersion) = (model, "1", "1")
        switch platform {
        case .ios: (device.type, device.manufacturer, device.osName) = ("MobilePhone", "Apple", "iOS")
        case .tvos: (device.type, device.manufacturer, device.osName) = ("SetTopBox", "Apple", "tvOS")
        case .roku: (device.type, device.manufacturer, device.osName) = ("SetTopBox", "Roku", "Roku OS")
        case .fireTv: (device.type, device.manufacturer, device.osName) = ("SetTopBox", "Amazon", "Android")
        case .android: (device.type, device.osName) = ("MobilePhone", "Android")
        case .desktop: (device.type, device.osName) = ("Desktop", "Windows")
        case .otherMobile: device.type = "MobilePhone"
        case .otherTv, .unknown, .unrecognized: device.type = "TV"
        }
        return device
    }

    static func device(_ id: String, _ platform: Platform) -> BridgeDevice {
        BridgeDevice(id: id, information: information(platform), address: "", port: 0, isSecure: true, userAgent: "")
    }

    /// As the catalogue calls it.
    static func word(_ platform: Platform) -> String {
        switch platform {
        case .ios: "ios"
        case .tvos: "tvos"
        case .roku: "roku"
        case .fireTv: "fireTv"
        case .android: "android"
        case .desktop: "desktop"
        case .otherMobile: "otherMobile"
        case .otherTv: "otherTv"
        case .unknown, .unrecognized: "unidentified"
        }
    }
}
