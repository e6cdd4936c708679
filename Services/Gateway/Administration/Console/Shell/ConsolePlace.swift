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
