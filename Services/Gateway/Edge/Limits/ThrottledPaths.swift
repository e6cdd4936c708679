internal import Hummingbird

/// Which requests are throttled: those of apps and login pages (rest-v1 §2.7). Answers of MVPDs (§3.8) and of Apple, calls of programmers' backends
/// (§3.22, apple §4), pages, published documents and preflights are not.
enum ThrottledPaths {
    private static let prefixes = [
        "/o/client/", "/reggie/v1/", "/api/", "/adobe-services/", "/indiv/", "/auto-signin/v1/", "/apple/v1/",
    ]

    private static let open: Set = [
        "/apple/v1/callback", "/apple/v1/notifications", SignInEndpoints.callbackPath, SignInEndpoints.callbackPath + "/{mvpd}",
        "/adobe-services/logout", "/adobe-services/logout/oauth",
    ]

    static func contains(_ path: String) -> Bool {
        guard prefixes.contains(where: { path.hasPrefix($0) }), !open.contains(path) else { return false }
        return !isOfBackend(path)
    }

    private static func isOfBackend(_ path: String) -> Bool {
        path.hasPrefix("/auto-signin/v1/") && (path.contains("/accounts/") || path.hasSuffix("/rotate"))
    }

    /// - Parameter path: Of the request.
    static func applies(to method: HTTPRequest.Method, _ path: String) -> Bool { method != .options && contains(path) }
}
