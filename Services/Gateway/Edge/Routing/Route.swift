package import Hummingbird

/// One path of the gateway: which methods it answers and how.
package final class Route: Sendable {
    package typealias Handler = @Sendable (Exchange) async throws -> Response

    /// The part of the body that the handler reads.
    package enum BodyRule: Sendable {
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

    /// A request names a registration code in one of these places.
    package enum CodePlace: Equatable, Sendable {
        case nowhere
        /// The captured part `{code}` of the path.
        case path
        case parameter(String)
        /// In the parameter `code` of a page, whose handler asks the guard itself: it tells a person about a pause.
        case page
    }

    /// Path; captures are `{name}`. Also the label of metrics and logs.
    package let path: String
    package let audience: Audience
    package let body: BodyRule
    /// Where the registration code stands of which an answer tells whether it exists, so that who sends wrong ones is slowed down.
    package let code: CodePlace
    /// A browser that asks for it under another name than that of sign-ins is led there first.
    package let beginsSignIn: Bool
    package let handlers: [HTTPRequest.Method: Handler]
    /// GET changes something, or issues something: then it is no method to look without content (RFC 9110 §9.2.1), and HEAD is refused.
    package let actsOnGet: Bool

    package init(
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

    /// - Returns: The handler that answers; `nil`: the route does not serve the method. HEAD is served as GET, whose content is dropped where answers
    ///   leave.
    package func handler(for method: HTTPRequest.Method) -> Handler? {
        handlers[method] ?? (method == .head && !actsOnGet ? handlers[.get] : nil)
    }

    /// Value of `Allow`.
    package var allowed: String {
        Self.knownMethods.filter { handler(for: $0) != nil || $0 == .options }.map(\.rawValue).joined(separator: ", ")
    }

    package static let knownMethods: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options, .connect, .trace]

    /// A handler whose answers change nothing.
    package static func readable(_ handler: @escaping Handler) -> [HTTPRequest.Method: Handler] { [.get: handler, .head: handler] }
}
