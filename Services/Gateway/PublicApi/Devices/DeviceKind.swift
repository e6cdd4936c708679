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
