internal import Contracts

/// The device that a User-Agent tells of; the first rule that matches decides.
struct UserAgentRule: Sendable {
    let mark: String
    let type: String
    let model: String
    let osName: String
    let osFamily: String

    private init(_ mark: String, _ type: String, _ model: String, _ osName: String, _ osFamily: String) {
        self.mark = mark
        self.type = type
        self.model = model
        self.osName = osName
        self.osFamily = osFamily
    }

    /// Searches octets: a search by characters costs a hundred times as much, and anybody may send it.
    static func device(_ text: String) -> DeviceInformation {
        let userAgent = Array(text.utf8)
        var device = DeviceInformation()
        if let rule = systems.first(where: { end(of: $0.mark, in: userAgent) != nil }) {
            device.type = rule.type
            device.model = rule.model
            device.osName = rule.osName
            device.osFamily = rule.osFamily
        }
        if let browser = browsers.first(where: { end(of: $0.mark, in: userAgent) != nil }) {
            device.browserName = browser.name
            device.browserVendor = browser.vendor
            device.browserVersion = version(after: browser.versionMark, in: userAgent)
        }
        return device
    }

    /// Returns where the first occurrence of a mark ends. By hand: the library's search of collections costs 300 µs for a kilobyte and one mark.
    private static func end(of mark: String, in userAgent: [UInt8]) -> Int? {
        var mark = mark
        return mark.withUTF8 { mark in
            userAgent.withUnsafeBufferPointer { text in
                guard let first = mark.first, mark.count <= text.count else { return nil }
                for start in 0...text.count - mark.count where text[start] == first {
                    var index = 1
                    while index < mark.count, text[start + index] == mark[index] { index += 1 }
                    if index == mark.count { return start + mark.count }
                }
                return nil
            }
        }
    }

    /// The digits and dots behind a product's name.
    private static func version(after mark: String, in userAgent: [UInt8]) -> String {
        guard let end = end(of: mark, in: userAgent) else { return "" }
        let version = userAgent[end...].prefix(32).prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        return String(decoding: version, as: UTF8.self)
    }

    private static let systems = [
        UserAgentRule("AppleTV", "SetTopBox", "AppleTV", "tvOS", "tvOS"), UserAgentRule("tvOS", "SetTopBox", "AppleTV", "tvOS", "tvOS"),
        UserAgentRule("Apple TV", "SetTopBox", "AppleTV", "tvOS", "tvOS"),
        UserAgentRule("Roku", "SetTopBox", "Roku", "Roku OS", "Roku OS"), UserAgentRule("AFT", "SetTopBox", "Fire TV", "Android", "Android"),
        UserAgentRule("iPad", "Tablet", "iPad", "iOS", "iOS"), UserAgentRule("iPhone", "MobilePhone", "iPhone", "iOS", "iOS"),
        UserAgentRule("Tizen", "TV", "Tizen", "Linux", "Tizen"), UserAgentRule("Web0S", "TV", "webOS", "webOS", "webOS"),
        UserAgentRule("PlayStation", "GamesConsole", "PlayStation", "Unknown", "PlayStation OS"),
        UserAgentRule("Xbox", "GamesConsole", "Xbox", "Windows", "Windows"), UserAgentRule("Android", "MobilePhone", "Android", "Android", "Android"),
        // Libraries of apps, which name no device: the player's of Apple, the two that Android apps use.
        UserAgentRule("AppleCoreMedia", "Unknown", "", "iOS", "iOS"), UserAgentRule("Dalvik/", "Unknown", "", "Android", "Android"),
        UserAgentRule("okhttp/", "Unknown", "", "Android", "Android"),
        UserAgentRule("CrOS", "Desktop", "Chromebook", "Chrome OS", "Linux"), UserAgentRule("Windows", "Desktop", "PC", "Windows", "Windows"),
        UserAgentRule("Macintosh", "Desktop", "Mac", "OS X", "macOS"), UserAgentRule("Linux", "Desktop", "PC", "Linux", "Linux"),
    ]

    /// Browsers name others they are compatible with: the most specific comes first.
    private static let browsers: [(mark: String, name: String, vendor: String, versionMark: String)] = [
        ("Edg/", "Edge", "Microsoft", "Edg/"), ("OPR/", "Opera", "Unknown", "OPR/"), ("Firefox/", "Firefox", "Mozilla", "Firefox/"),
        ("Chrome/", "Chrome", "Google", "Chrome/"), ("Safari/", "Safari", "Apple", "Version/"),
    ]
}
