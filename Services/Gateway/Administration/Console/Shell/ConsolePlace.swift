internal import TextEncodings

/// Where in the console a page is: the entries of its navigation.
enum ConsolePlace: String, CaseIterable, Sendable {
    case home
    case integrations
    case channels
    case mvpds
    case applications
    case programmers
    case signIns = "sign-ins"
    case support
    case degradation
    case tempPass = "temp-pass"
    case usage
    case history
    case draft
    case sessions

    /// What the navigation lists; the others are reached from the page's head.
    static let listed: [ConsolePlace] = [
        .home, .integrations, .channels, .mvpds, .applications, .programmers, .signIns, .support, .degradation, .tempPass, .usage, .history,
    ]

    var name: String {
        switch self {
        case .home: "Home"
        case .integrations: "Integrations"
        case .channels: "Channels"
        case .mvpds: "MVPDs"
        case .applications: "Applications"
        case .programmers: "Programmers"
        case .signIns: "Sign-ins"
        case .support: "Support"
        case .degradation: "Degradation"
        case .tempPass: "TempPass"
        case .usage: "Usage"
        case .history: "History"
        case .draft: "Review"
        case .sessions: "Sessions"
        }
    }

    var address: String { self == .home ? Console.path : Console.address(rawValue) }
}

/// Addresses of the console's pages.
enum ConsoleAddress {
    static func text(_ parts: [String], query: KeyValuePairs<String, String> = [:]) -> String {
        let path = ([Console.path] + parts.map(PercentEncoding.encode)).joined(separator: "/")
        let pairs = query.filter { !$0.value.isEmpty }.map { "\(PercentEncoding.encode($0.key))=\(PercentEncoding.encode($0.value))" }
        return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
    }

    /// - Returns: The address where it is one of the console; home for any other, so that nothing leads elsewhere.
    static func own(_ address: String) -> String {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        let isOwn = path == Console.path || path.hasPrefix(Console.path + "/")
        return isOwn && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") } ? address : Console.path
    }
}
