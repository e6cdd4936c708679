internal import Hummingbird

/// One path of the gateway: which methods it answers and how.
final class Route: Sendable {
    typealias Handler = @Sendable (Exchange) async throws -> Response

    /// Who calls the path, which decides what a refusal looks like.
    enum Audience: Sendable {
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

        /// Where it is served; what those who administer ask is a stranger's at no listener.
        var door: Door {
            switch self {
            case .administration, .console, .api(.tempPassReset), .api(.degradation), .usage: .administration
            case .api, .apiV2, .singleSignOn, .clientRegistration, .autoSignIn, .notification, .browser: .everybody
            }
        }

        /// True where a slash at the end of the path does no harm (rest-v2 §1.1); elsewhere it leads to the path without it.
        var takesSlash: Bool {
            switch self {
            case .apiV2, .singleSignOn, .usage: true
            default: false
            }
        }

        var isBrowser: Bool {
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
            case .api, .clientRegistration, .administration, .console, .usage, .notification, .browser: false
            }
        }

        /// True where pages of a requestor's domains may call and read (rest-v1 §2.1).
        var isOpenToRequestors: Bool {
            switch self {
            case .api(.proxiedMvpds): false
            case .api, .apiV2, .singleSignOn, .autoSignIn: true
            case .clientRegistration, .administration, .console, .usage, .notification, .browser: false
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

        /// True where pages of any origin may call and read: they need a bearer, which no browser has by itself (clients §4.17).
        var isOpenToEverybody: Bool {
            if case .usage = self { true } else { false }
        }
    }

    /// What the handler reads of the body.
    enum BodyRule: Sendable {
        case ignored
        /// Form fields join the query's parameters.
        case form
        case raw
        /// An entry of the catalogue, at most 1 MiB.
        case document
        /// A form as large as an MVPD's answer.
        case assertion
        /// A form that may hold an entry of the catalogue, at most 2 MiB in its encoding.
        case largeForm
    }

    /// Where a request names a registration code.
    enum CodePlace: Equatable, Sendable {
        case nowhere
        /// The captured part `{code}` of the path.
        case path
        case parameter(String)
        /// In the parameter `code` of a page, whose handler asks the guard itself: it tells a person about a pause.
        case page
    }

    /// Path; captures are `{name}`. Also the label of metrics and logs.
    let path: String
    let audience: Audience
    let body: BodyRule
    /// Where the registration code stands of which an answer tells whether it exists, so that who sends wrong ones is slowed down.
    let code: CodePlace
    /// A browser that asks for it under another name than that of sign-ins is led there first.
    let beginsSignIn: Bool
    let handlers: [HTTPRequest.Method: Handler]
    /// GET changes something, or issues something: then it is no method to look without content (RFC 9110 §9.2.1), and HEAD is refused.
    let actsOnGet: Bool

    init(
        _ path: String, _ audience: Audience, body: BodyRule = .ignored, code: CodePlace = .nowhere, beginsSignIn: Bool = false,
        actsOnGet: Bool = false,
        _ handlers: [HTTPRequest.Method: Handler]
    ) {
        self.path = path
        self.audience = audience
        self.body = body
        self.code = code
        self.beginsSignIn = beginsSignIn
        self.handlers = handlers
        self.actsOnGet = actsOnGet
    }

    /// - Returns: What answers; `nil`: the route does not serve the method. HEAD is served as GET, whose content is dropped where answers leave.
    func handler(for method: HTTPRequest.Method) -> Handler? {
        handlers[method] ?? (method == .head && !actsOnGet ? handlers[.get] : nil)
    }

    /// Value of `Allow`.
    var allowed: String {
        Self.knownMethods.filter { handler(for: $0) != nil || $0 == .options }.map(\.rawValue).joined(separator: ", ")
    }

    static let knownMethods: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options, .connect, .trace]
}
