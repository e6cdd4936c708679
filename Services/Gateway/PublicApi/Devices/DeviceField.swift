internal import Contracts

/// Keys of `X-Device-Info` and where their values go (rest-v1 §2.4).
enum DeviceField {
    static let all: [String: any WritableKeyPath<DeviceInformation, String> & Sendable] = [
        "primaryHardwareType": \.type, "model": \.model, "version": \.version, "manufacturer": \.manufacturer, "vendor": \.vendor,
        "osName": \.osName, "osFamily": \.osFamily, "osVendor": \.osVendor, "osVersion": \.osVersion, "browserName": \.browserName,
        "browserVendor": \.browserVendor, "browserVersion": \.browserVersion, "userAgent": \.userAgent,
        "displayWidth": \.displayWidth, "displayHeight": \.displayHeight, "displayPpi": \.displayPpi,
        "diagonalScreenSize": \.diagonalScreenSize, "connectionIp": \.connectionIP, "connectionPort": \.connectionPort,
        "connectionType": \.connectionType, "connectionSecure": \.connectionSecure, "applicationId": \.applicationID,
    ]

    /// Fields that know only certain values; any other is `Unknown`.
    static let restricted: [String: Set<String>] = [
        "primaryHardwareType": [
            "Camera", "DataCollectionTerminal", "Desktop", "EmbeddedNetworkModule", "eReader", "GamesConsole", "GeolocationTracker",
            "Glasses", "MediaPlayer", "MobilePhone", "PaymentTerminal", "PluginModem", "SetTopBox", "TV", "Tablet", "WirelessHotspot",
            "Wristwatch", "Unknown",
        ],
        "osName": [
            "Android", "Chrome OS", "Linux", "Mac OS", "OS X", "OpenBSD", "Roku OS", "Windows", "iOS", "tvOS", "webOS",
        ],
        "osFamily": [
            "Android", "BSD", "Linux", "PlayStation OS", "Roku OS", "Symbian", "Tizen", "Windows", "iOS", "macOS", "tvOS", "webOS",
        ],
        "browserName": [
            "Android Browser", "Chrome", "Edge", "Firefox", "Internet Explorer", "Opera", "Safari", "SeaMonkey", "Symbian Browser",
        ],
        "browserVendor": [
            "Amazon", "Apple", "Google", "Microsoft", "Motorola", "Mozilla", "Netscape", "Nintendo", "Nokia", "Samsung",
            "Sony Ericsson",
        ],
    ]

    /// The listed spelling of a value, or `Unknown`.
    static func normalized(_ value: String, key: String) -> String {
        if key == "connectionSecure" { return ["true", "false"].contains(value.lowercased()) ? value.lowercased() : "" }
        guard let accepted = restricted[key] else { return value }
        if key == "osName", value == "Roku" { return "Roku OS" }
        return accepted.contains(value) ? value : "Unknown"
    }
}

/// What the parameter `deviceType` tells, as clients are seen to write it (clients §1.1); letter case, blanks, `-` and `_` do not count.
struct DeviceKind: Sendable {
    let type: String
    let model: String
    let osName: String
    let osFamily: String

    /// - Returns: `nil` for a text that names no platform.
    init?(_ deviceType: String) {
        let word = deviceType.utf8.prefix(32).filter { ![0x20, 0x2d, 0x5f].contains($0) }
        switch String(decoding: word, as: UTF8.self).lowercased() {
        case "appletv", "tvos": self.init("SetTopBox", "AppleTV", "tvOS", "tvOS")
        case "androidtv": self.init("SetTopBox", "Android TV", "Android", "Android")
        case "firetv": self.init("SetTopBox", "Fire TV", "Android", "Android")
        case "android", "androidmobile", "androidphone": self.init("MobilePhone", "Android", "Android", "Android")
        case "roku": self.init("SetTopBox", "Roku", "Roku OS", "Roku OS")
        case "iphone", "ios": self.init("MobilePhone", "iPhone", "iOS", "iOS")
        case "ipad": self.init("Tablet", "iPad", "iOS", "iOS")
        case "win8universal", "windows": self.init("Desktop", "PC", "Windows", "Windows")
        case "xbox", "xbox360", "xboxone": self.init("GamesConsole", "Xbox", "Windows", "Windows")
        default: return nil
        }
    }

    private init(_ type: String, _ model: String, _ osName: String, _ osFamily: String) {
        self.type = type
        self.model = model
        self.osName = osName
        self.osFamily = osFamily
    }
}
