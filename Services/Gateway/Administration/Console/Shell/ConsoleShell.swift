internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore
internal import TextEncodings

/// The frame that every page shows around its content.
struct ConsoleShell {
    let title: String
    /// The title of the window where it says more than the heading; `nil`: it is the heading.
    var windowTitle: String?
    let place: ConsolePlace
    let visitor: Visitor
    /// The number of changes in the draft.
    let changes: Int
    let admin: AdministrationSettings

    var content: [String: Any] {
        var content: [String: Any] = [
            "title": title, "windowTitle": Self.windowTitle(windowTitle ?? title, in: place), "token": visitor.formToken.text,
            "who": visitor.administrator.name, "role": visitor.administrator.role.word,
            "places": ConsolePlace.listed(for: visitor).map {
                ["placeName": $0.name, "placeAddress": $0.address, "isHere": $0 == place] as [String: Any]
            },
            "mayEdit": visitor.mayEdit, "isOperator": visitor.isOperator, "sessionsAddress": ConsolePlace.sessions.address,
        ]
        if !admin.clusters.isEmpty {
            content["selector"] = [
                "clusterName": admin.clusterName,
                "otherClusters": admin.clusters.map { ["otherName": $0.name, "otherAddress": $0.console] },
            ]
        }
        if changes > 0, place != .draft {
            content["unpushed"] = [
                "unpushedText": changes == 1 ? "1 change is not live yet." : "\(changes) changes are not live yet.",
                "reviewAddress": ConsolePlace.draft.address,
            ]
        }
        return content
    }

    /// Two entries of one name are in two places (WCAG 2.4.2).
    private static func windowTitle(_ title: String, in place: ConsolePlace) -> String {
        place == .home || title.utf8.starts(with: place.name.utf8) ? title : "\(title) – \(place.name)"
    }
}

extension AdministratorRole {
    /// The word of the API for it.
    var word: String {
        switch self {
        case .viewer: "viewer"
        case .editor: "editor"
        case .operator: "operator"
        case .proxy: "proxy"
        case .unknown, .unrecognized: "unknown"
        }
    }
}

/// A page is in one of these places of the console: the entries of its navigation.
enum ConsolePlace: String, CaseIterable, Sendable {
    case home
    case integrations
    case channels
    case mvpds
    case applications
    case programmers
    case upstreams
    case signIns = "sign-ins"
    case support
    case degradation
    case tempPass = "temp-pass"
    case usage
    case history
    case draft
    case sessions

    /// The places that the navigation lists; the others are reached from the page's head.
    private static let listed: [ConsolePlace] = [
        .home, .integrations, .channels, .mvpds, .applications, .programmers, .upstreams, .signIns, .support, .degradation, .tempPass, .usage,
        .history,
    ]

    static func listed(for visitor: Visitor) -> [ConsolePlace] { listed.filter { $0 != .upstreams || visitor.isOperator } }

    var name: String {
        switch self {
        case .home: "Home"
        case .integrations: "Integrations"
        case .channels: "Channels"
        case .mvpds: "MVPDs"
        case .applications: "Applications"
        case .programmers: "Programmers"
        case .upstreams: "Upstreams"
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

/// The face of the console: pages that say what went wrong, and what to do (dashboard §7).
struct ConsoleFace: GuardedFace {
    private let pages: Pages
    private let overloaded: (fields: HTTPFields, body: ByteBuffer)

    init(_ pages: Pages) {
        self.pages = pages
        overloaded = pages.notice(.unavailable)[Languages.standard] ?? ([:], ByteBuffer())
    }

    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        let trace = exchange.facts.trace.traceID
        if let refusal = error as? AdministrationError {
            return page(refusal.status == .notFound ? .notFound : .invalid, trace: trace, words: refusal.message)
        }
        switch fault.code {
        case .notFound: return page(.notFound, trace: trace)
        case .insufficientRole: return page(.notAllowed, trace: trace, words: fault.message == ConsoleAccess.operatorsAlone ? fault.message : "")
        case .accessDenied: return Console.seeOther(ConsoleSignInPages.path)
        case .invalidRequest: return page(.invalid, trace: trace, words: fault.message)
        case .unimplemented: return page(.notOffered, trace: trace)
        case let code where code.isTransient: return page(.unavailable, trace: trace)
        default: return page(.failed, trace: trace)
        }
    }

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response {
        page(problem == .tooLarge ? .tooLarge : .incomplete, trace: exchange.facts.trace.traceID)
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response { page(.methodNotAllowed, trace: exchange.facts.trace.traceID) }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response { page(.notFound, trace: facts.trace.traceID) }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) { overloaded }

    func stranger(_ refusal: AdministrationNames.Refusal, trace: String) -> Response {
        page(refusal == .foreignHost ? .foreignHost : .foreignOrigin, trace: trace)
    }

    /// A page that only says what happened.
    enum Notice: String, CaseIterable {
        case notFound
        case notAllowed
        case invalid
        case notOffered
        case unavailable
        case failed
        case methodNotAllowed
        case tooLarge
        case incomplete
        case foreignHost
        case foreignOrigin

        /// The heading, and the title of the window.
        var title: String {
            switch self {
            case .notFound: "Not here"
            case .notAllowed: "Not allowed"
            case .invalid: "This cannot be asked for"
            case .notOffered: "Not offered here"
            case .unavailable: "Please try again in a moment"
            case .failed: "Something went wrong"
            case .methodNotAllowed: "Nothing to see here"
            case .tooLarge: "Too large"
            case .incomplete: "That did not arrive completely"
            case .foreignHost: "Another name, please"
            case .foreignOrigin: "Nothing was changed"
            }
        }

        var status: HTTPResponse.Status {
            switch self {
            case .notFound: .notFound
            case .notAllowed, .foreignOrigin: .forbidden
            case .invalid, .incomplete: .badRequest
            case .notOffered: .notImplemented
            case .unavailable: .serviceUnavailable
            case .failed: .internalServerError
            case .methodNotAllowed: .methodNotAllowed
            case .tooLarge: .contentTooLarge
            case .foreignHost: .misdirectedRequest
            }
        }
    }

    /// - Parameter words: The service's own words, where they help.
    private func page(_ notice: Notice, trace: String, words: String = "") -> Response {
        guard pages.hasConsole else { return pages.message(.notFound, trace: trace, for: pages.english) }
        var content: [String: Any] = [notice.rawValue: true, "title": notice.title, "trace": trace]
        if !words.isEmpty { content["words"] = words }
        return Console.html(pages, "problem", content, status: notice.status)
    }
}
