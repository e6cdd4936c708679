internal import Contracts

/// The platform that a device belongs to, for the catalogue's settings by platform.
enum PlatformRule {
    /// - Returns: `nil` when the device information tells none.
    static func platform(_ device: DeviceInformation) -> Platform? {
        switch device.osName {
        case "tvOS": .tvos
        case "iOS": device.osFamily == "tvOS" ? .tvos : .ios
        case "Roku OS": .roku
        case "Android": android(device)
        case "Windows", "OS X", "Mac OS", "Linux", "Chrome OS", "OpenBSD": screen(device.type) ?? .desktop
        default: screen(device.type)
        }
    }

    private static func android(_ device: DeviceInformation) -> Platform {
        if device.manufacturer == "Amazon" || device.model.hasPrefix("AFT") || device.model == "Fire TV" { return .fireTv }
        return screen(device.type) ?? .android
    }

    private static func screen(_ type: String) -> Platform? {
        switch type {
        case "TV", "SetTopBox", "MediaPlayer", "GamesConsole": .otherTv
        default: nil
        }
    }
}
