internal import Hummingbird

/// Which requests are throttled: those of apps and login pages (rest-v1 §2.7). An MVPD's answer (§3.8), the reset of TempPass (§3.22), pages,
/// published documents and preflights are not.
enum ThrottledPaths {
    private static let prefixes = ["/o/client/", "/reggie/v1/", "/api/v1/", "/api/v2/", "/adobe-services/config/"]

    static func contains(_ path: String) -> Bool { prefixes.contains { path.hasPrefix($0) } }

    /// - Parameter path: Of the request.
    static func applies(to method: HTTPRequest.Method, _ path: String) -> Bool { method != .options && contains(path) }
}
