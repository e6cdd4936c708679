package import Faults
package import Hummingbird
package import NIOCore

/// One face of the API: how it words a refusal to those who call it, as status, headers and body.
///
/// The edge finds out that a request is refused, and for which fault. Only the face of the request's audience knows which form its callers read.
/// Fields that all refusals share, such as `Retry-After` of a 503, are the edge's.
package protocol Face: Sendable {
    /// - Parameters:
    ///   - error: The error of the handler, where a face has more to tell of it than the fault says.
    ///   - fault: The fault for the error.
    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response

    /// The edge adds `Allow`.
    func methodNotAllowed(_ exchange: Exchange) -> Response

    /// The address has sent too many codes that nobody knows.
    /// - Parameter seconds: Until one is looked at again; at least 1.
    func paused(seconds: Int, _ exchange: Exchange) -> Response

    /// No route has the address, which begins as those of this face do.
    func notFound(_ request: Request, _ facts: RequestFacts) -> Response

    /// The gateway has no time for the request, so that this has to cost little. The status is 503.
    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer)
}

extension Face {
    package func paused(seconds: Int, _ exchange: Exchange) -> Response { .tooManyRequests(retryAfter: seconds) }

    /// The plain form of the v1 API, in which unknown addresses below most of the prefixes are answered.
    package func notFound(_ request: Request, _ facts: RequestFacts) -> Response {
        Response(
            ErrorDocument.plain(status: 404, message: "Not Found", details: nil), format: ReplyFormat(request, facts), status: .notFound)
    }
}

/// A face at the listener for administration, which says also why it serves nobody from elsewhere.
package protocol GuardedFace: Face {
    /// - Parameter trace: The id that a person quotes to support.
    func stranger(_ refusal: AdministrationNames.Refusal, trace: String) -> Response
}

/// The known facts about a request that the gateway has no time for.
package struct OverloadedRequest {
    /// The suffix of the path, without its dot.
    package let suffix: String?
    /// The fields `Accept` and `Accept-Language`.
    package let accept, language: String?
    /// The settings of the name that the request was sent to.
    package let host: ServedHost
    /// Id of the request's trace.
    package let trace: String

    package static let message = "The service is temporarily unavailable."
}

/// The faces of the public API.
package struct PublicFaces: Sendable {
    let api, apiV2, singleSignOn, clientRegistration, autoSignIn, notification, browser: any Face

    package init(
        api: any Face, apiV2: any Face, singleSignOn: any Face, clientRegistration: any Face, autoSignIn: any Face, notification: any Face,
        browser: any Face
    ) {
        self.api = api
        self.apiV2 = apiV2
        self.singleSignOn = singleSignOn
        self.clientRegistration = clientRegistration
        self.autoSignIn = autoSignIn
        self.notification = notification
        self.browser = browser
    }
}

/// The faces of administration.
package struct AdministrationFaces: Sendable {
    let administration, console: any GuardedFace
    let usage: any Face

    package init(administration: any GuardedFace, console: any GuardedFace, usage: any Face) {
        self.administration = administration
        self.console = console
        self.usage = usage
    }
}

/// All faces, each of which is found by its audience.
package struct Faces: Sendable {
    private let everybody: PublicFaces
    private let administration: AdministrationFaces

    package init(_ everybody: PublicFaces, _ administration: AdministrationFaces) {
        self.everybody = everybody
        self.administration = administration
    }

    subscript(_ audience: Route.Audience) -> any Face {
        switch audience {
        case .api: everybody.api
        case .apiV2: everybody.apiV2
        case .singleSignOn: everybody.singleSignOn
        case .clientRegistration: everybody.clientRegistration
        case .autoSignIn: everybody.autoSignIn
        case .notification: everybody.notification
        case .browser, .script: everybody.browser
        case .administration: administration.administration
        case .console: administration.console
        case .usage: administration.usage
        }
    }

    /// - Parameter path: At the listener for administration.
    func guarded(at path: String) -> any GuardedFace {
        if case .console = Route.Audience(unknown: path) { administration.console } else { administration.administration }
    }
}
