public import Contracts

extension DeviceInformation {
    /// The platform that the device belongs to, for the catalogue's settings by platform; `unknown` when the device names none.
    public var platform: Platform {
        switch osName {
        case "tvOS": .tvos
        case "iOS": osFamily == "tvOS" ? .tvos : .ios
        case "Roku OS": .roku
        case "Android": androidPlatform
        case "Windows", "OS X", "Mac OS", "Linux", "Chrome OS", "OpenBSD": hardwarePlatform ?? .desktop
        default: familyPlatform ?? hardwarePlatform ?? .unknown
        }
    }

    /// For an operating system without an entry among the names, but with one among the families.
    private var familyPlatform: Platform? {
        switch osFamily {
        case "tvOS": .tvos
        case "iOS": .ios
        case "Roku OS": .roku
        case "Android": androidPlatform
        case "macOS", "Windows", "BSD": hardwarePlatform ?? .desktop
        default: nil
        }
    }

    private var androidPlatform: Platform {
        let isHandheld = hardwarePlatform == .otherMobile
        if model.hasPrefix("AFT") || model == "Fire TV" || manufacturer == "Amazon" && !isHandheld { return .fireTv }
        return isHandheld ? .android : hardwarePlatform ?? .android
    }

    private var hardwarePlatform: Platform? {
        switch type {
        case "TV", "SetTopBox", "MediaPlayer", "GamesConsole": .otherTv
        case "MobilePhone", "Tablet", "eReader", "Wristwatch", "Glasses": .otherMobile
        case "Desktop": .desktop
        default: nil
        }
    }
}
