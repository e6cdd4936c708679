import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Acts as a person in the web view: follows the page to the provider, signs in there, and returns to the app's address.
final class WebView: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
    private lazy var session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) { completionHandler(nil) }

    /// - Returns: The first address that is not on a server of the test.
    func open(_ url: String, as person: String, until scheme: String) async throws -> String {
        var request = URLRequest(url: URL(string: url)!)
        for _ in 0..<12 {
            let (data, answer) = try await load(request)
            if let location = answer.value(forHTTPHeaderField: "Location") {
                if location.hasPrefix(scheme) { return location }
                request = URLRequest(url: URL(string: location, relativeTo: answer.url)!)
                continue
            }
            guard let next = form(String(decoding: data, as: UTF8.self), at: answer.url!, person) else { break }
            request = next
        }
        throw CocoaError(.userCancelled)
    }

    private func load(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        try await withCheckedThrowingContinuation { continuation in
            session.dataTask(with: request) { data, answer, error in
                if let data, let answer = answer as? HTTPURLResponse { return continuation.resume(returning: (data, answer)) }
                continuation.resume(throwing: error ?? CocoaError(.fileReadUnknown))
            }.resume()
        }
    }

    private func form(_ html: String, at url: URL, _ person: String) -> URLRequest? {
        guard let action = first(#"<form[^>]*action="([^"]*)""#, html) else { return nil }
        var fields: [(String, String)] = []
        for input in all(#"<input[^>]*>"#, html) {
            guard let name = first(#"name="([^"]*)""#, input) else { continue }
            let value = ["username", "password"].contains(name) ? person : first(#"value="([^"]*)""#, input) ?? ""
            fields.append((name, unescaped(value)))
        }
        var request = URLRequest(url: URL(string: unescaped(action), relativeTo: url)!)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        let plain = CharacterSet.alphanumerics
        request.httpBody = Data(
            fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: plain) ?? "")" }.joined(separator: "&").utf8)
        return request
    }

    private func unescaped(_ text: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(text) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }

    private func first(_ pattern: String, _ text: String) -> String? {
        let expression = try! NSRegularExpression(pattern: pattern)
        guard let match = expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)), match.numberOfRanges > 1,
            let range = Range(match.range(at: 1), in: text)
        else { return nil }
        return String(text[range])
    }

    private func all(_ pattern: String, _ text: String) -> [String] {
        let expression = try! NSRegularExpression(pattern: pattern)
        return expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap {
            Range($0.range, in: text).map { String(text[$0]) }
        }
    }
}
