internal import Hummingbird

/// The platform's identity token of a call (rest-v1 §2.6). Whether it holds, the owning service finds out; a call without one goes on.
enum SubjectToken {
    /// Bytes; no service reads a longer one.
    private static let longest = 16 * 1024

    /// The header `Adobe-Subject-Token`, else the parameter `ast`, else the header that Roku devices add by themselves.
    /// - Returns: An empty text when none was sent, or one that nobody would read.
    static func sent(_ exchange: Exchange) -> String {
        let candidates = [exchange.headers[.adobeSubjectToken], try? exchange.value("ast"), exchange.headers[.rokuConnectToken]]
        let token = candidates.lazy.compactMap { $0 }.first { !$0.isEmpty } ?? ""
        return token.utf8.count <= longest ? token : ""
    }
}
