internal import Hummingbird

extension Route {
    /// The callers of a path, which decide the form of a refusal.
    package enum Audience: Sendable {
        /// Apps: errors of rest-v1 §2.8.
        case api(Endpoint)
        /// Apps on REST v2: errors of rest-v2 §3.
        case apiV2
        /// Apps and backends that get service tokens: errors of rest-v2 §2.14.
        case singleSignOn(isToken: Bool)
        /// Apps registering themselves: errors of RFC 6749 §5.2.
        case clientRegistration
        /// Administrators: errors of dashboard §5.
        case administration
        /// The same people in a browser: errors are pages of the console.
        case console
        /// Readers of usage reports: errors are plain text (rest-v2 §7).
        case usage
        /// Apps and backends with Automatic Sign-In or Sign in with Apple: errors of rest-v2 §3.
        case autoSignIn
        /// Apple's servers: errors have no body (apple §2.9).
        case notification
        /// Browsers: errors are pages.
        case browser
        /// Pages of any site, which load a script: errors are pages too.
        case script

        /// It is served here; what those who administer ask is a stranger's at no listener.
        var listenerKind: ListenerKind {
            switch self {
            case .administration, .console, .api(.tempPassReset), .api(.degradation), .usage: .administration
            case .api, .apiV2, .singleSignOn, .clientRegistration, .autoSignIn, .notification, .browser, .script: .everybody
            }
        }

        /// True where a slash at the end of the path does no harm (rest-v2 §1.1); elsewhere it leads to the path without it.
        var takesSlash: Bool {
            switch self {
            case .apiV2, .singleSignOn, .usage: true
            default: false
            }
        }

        package var isBrowser: Bool {
            if case .browser = self { true } else { false }
        }

        /// True where nobody asks for XML by saying nothing: an API that has only ever had JSON.
        var isAlwaysJSON: Bool {
            if case .api(.degradation) = self { true } else { false }
        }

        /// True where no page of another origin may call, whatever bearer it has.
        var isFirstParty: Bool {
            switch self {
            case .administration, .console: true
            default: false
            }
        }

        /// True where no call with a body is answered without an access token.
        var demandsBearer: Bool {
            switch self {
            case .api(.registrationCode), .api(.freePreview), .api(.preauthorize), .api(.authnToken), .api(.sdkSession), .api(.sdkDecision),
                .apiV2, .singleSignOn, .autoSignIn:
                true
            case .api, .clientRegistration, .administration, .console, .usage, .notification, .browser, .script: false
            }
        }

        /// True where pages of a requestor's domains may call and read (rest-v1 §2.1).
        var isOpenToRequestors: Bool {
            switch self {
            case .api(.proxiedMvpds): false
            case .api, .apiV2, .singleSignOn, .autoSignIn: true
            case .clientRegistration, .administration, .console, .usage, .notification, .browser, .script: false
            }
        }

        /// True where pages of a requestor's domains may read what they get: there, and where their apps register, which names no requestor.
        var isReadableByPages: Bool {
            if case .clientRegistration = self { true } else { isOpenToRequestors }
        }

        /// True where parameters name the requestor that is served. Elsewhere they say nothing, and what they say opens nothing.
        var isNamedARequestor: Bool {
            switch self {
            case .clientRegistration, .api(.sdkDevices): false
            default: true
            }
        }

        /// True where pages of any origin may call and read. They need a bearer, which no browser has by itself (clients §4.17), or the answer is the
        /// same for all.
        var isOpenToEverybody: Bool {
            switch self {
            case .usage, .script: true
            default: false
            }
        }
    }
}

extension Route.Audience {
    /// Requests without which somebody cannot finish what has begun: sign-ins and pages, administrators, Apple's notifications. Apps ask again by
    /// themselves.
    var isUrgent: Bool {
        switch self {
        case .browser, .script, .administration, .console, .notification, .api(.authenticate), .api(.logout): true
        case .api, .apiV2, .singleSignOn, .clientRegistration, .autoSignIn, .usage: false
        }
    }
}

extension Route.Audience {
    private static let general = ["/api/", "/reggie/", "/o/", "/adobe-services/", "/reset-tempass/", "/control/"]

    /// The callers of an address that the gateway does not have.
    init(unknown path: String) {
        self =
            if path.hasPrefix("/admin/") {
                .administration
            } else if path == KnownPaths.console || path.hasPrefix(KnownPaths.console + "/") {
                .console
            } else if path.hasPrefix("/api/v2/") {
                .apiV2
            } else if path.hasPrefix("/auto-signin/") || path.hasPrefix("/apple/") {
                .autoSignIn
            } else {
                Self.general.contains { path.hasPrefix($0) } ? .api(.config) : .browser
            }
    }

    /// The same, when the answer says that there is no such address. Then reports of usage also have a form of their own, and the console is not
    /// where there is none.
    init(notFound path: String) {
        self = path.hasPrefix("/esm/") ? .usage : path == KnownPaths.console ? .browser : Self(unknown: path)
    }
}

/// Operations of the v1 API, as far as the same fault has another status at each (rest-v1 §2.8).
package enum Endpoint: Hashable, Sendable {
    case config
    case registrationCode
    case authenticate
    case checkAuthn
    case checkAuthnByCode
    case authnToken
    case authnTokenByCode
    case authorize
    case authzToken
    case mediaToken
    case preauthorize
    case logout
    case freePreview
    case tempPassReset
    case degradation
    case proxiedMvpds
    case userMetadata
    case metadata
    case platform
    /// The SDKs' own calls (clients §3). They concern a device's id, the token of a code's session, and the content of a stored token, with a bearer
    /// or without.
    case sdkDevices
    case sdkSession
    case sdkDecision
    case sdkStored
}

/// Paths that more than one module names.
package enum KnownPaths {
    package static let console = "/console"
    /// OAuth providers send browsers back here; below it each record has an address of its own.
    package static let oauthCallback = "/adobe-services/oauth2"
    /// Before the ticket of a test sign-in: at the origin of sign-ins, as the cookie must be the one that the MVPD's answer brings.
    package static let testSignIn = "/test-sign-in"
}

/// The listeners that a route is served at.
public enum ListenerKind: Sendable {
    /// Apps, browsers and MVPDs.
    case everybody
    /// Those who administer the cluster.
    case administration
}

/// The callers that may come in at the listener for administration: they name it as one of its own.
///
/// A page of another site can lead its name to a loopback address (DNS rebinding) and so ask with the reader's browser. It cannot make that browser
/// send another name than its own. A number is no name that a page could be served under by somebody else.
package struct AdministrationNames: Sendable {
    private let hosts: Set<OctetText>

    init(_ settings: AdministrationSettings) {
        hosts = Set((settings.hosts.map { $0.lowercased() } + ["localhost"]).map { OctetText($0) })
    }

    package enum Refusal: Equatable {
        case foreignHost
        case foreignOrigin
    }

    /// - Parameter checksOrigin: False where a bearer is all that counts, so that consoles of other origins may call.
    /// - Returns: `nil`: come in.
    func refusal(of request: Request, isSecure: Bool, checksOrigin: Bool) -> Refusal? {
        let scheme = isSecure ? "https" : "http"
        guard let authority = request.head.authority, authority.utf8.count <= 300, let own = WebOrigin("\(scheme)://\(authority)"),
            own.hasNoMore(than: authority), hosts.contains(OctetText(own.host)) || own.isNumeric
        else { return .foreignHost }
        guard checksOrigin else { return nil }
        let origins = request.headers[values: .origin]
        if let origin = origins.first {
            guard origins.count == 1, WebOrigin(origin)?.withPort == own.withPort else { return .foreignOrigin }
        }
        // The values that a browser sends for a page's own calls, and for an address that a person has typed.
        let site = request.headers.value(.secFetchSite) ?? "none"
        return site == "same-origin" || site == "none" ? nil : .foreignOrigin
    }
}

extension WebOrigin {
    /// True where the authority is nothing but host and port.
    fileprivate func hasNoMore(than authority: String) -> Bool {
        authority.lowercased() == host + (port.map { ":\($0)" } ?? "")
    }

    /// True for an address in numbers.
    fileprivate var isNumeric: Bool {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        return IPAddress(bare) != nil
    }

    /// With the port that its scheme implies where none is written.
    fileprivate var withPort: WebOrigin { port == nil ? WebOrigin("\(scheme)://\(host):\(scheme == "https" ? 443 : 80)") ?? self : self }
}
