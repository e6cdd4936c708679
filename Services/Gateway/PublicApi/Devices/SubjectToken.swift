internal import Hummingbird

/// The platform's identity token of a call (rest-v1 §2.6). Whether it holds, the owning service finds out; a call without one goes on.
enum SubjectToken {
    /// Bytes; no service reads a longer one.
    private static let longest = 16 * 1024

    /// The header `Adobe-Subject-Token`, else the parameter `ast`, else the header that Roku devices add by themselves.
    /// - Returns: An empty text when none was sent, or one that nobody would read.
    static func sent(_ exchange: Exchange) -> String {
        let token =
            named(exchange.headers.value(.adobeSubjectToken)) ?? named(try? exchange.value("ast"))
            ?? named(exchange.headers.value(.rokuConnectToken)) ?? ""
        return token.utf8.count <= longest ? token : ""
    }

    private static func named(_ token: String?) -> String? { token?.isEmpty == false ? token : nil }
}
