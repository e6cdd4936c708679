@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing
import TextEncodings

/// One request, open to every change that a case needs.
struct Call: Sendable {
    var method: String
    var path: String
    var query: [String: String]
    var headers: [String: String]
    var body: String?

    init(_ method: String, _ path: String, query: [String: String] = [:], headers: [String: String] = [:], body: String? = nil) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// A form as the body.
    static func form(_ path: String, _ fields: [(String, String)], headers: [String: String] = [:]) -> Call {
        let all = headers.merging(["Content-Type": "application/x-www-form-urlencoded"]) { $1 }
        return Call("POST", path, headers: all, body: FormEncoding.encode(fields))
    }

    /// A JSON object as the body.
    static func json(_ path: String, _ object: [String: String], headers: [String: String] = [:]) throws -> Call {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return Call("POST", path, headers: headers.merging(["Content-Type": "application/json"]) { $1 }, body: body)
    }

    /// The same call with a change.
    func with(_ change: (inout Call) -> Void) -> Call {
        var call = self
        change(&call)
        return call
    }
}

extension TestCluster {
    /// Sends a call to the gateway, at the listener that serves it.
    func send(_ call: Call) async throws -> HTTPAnswer {
        let isAdministrative = ["/admin/", "/reset-tempass/", "/control/", "/esm/"].contains { call.path.hasPrefix($0) }
        let query = FormEncoding.encode(call.query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        let url = (isAdministrative ? administration : gateway) + call.path + (query.isEmpty ? "" : "?" + query)
        return try await exchange.send(call.method, url, headers: call.headers.map { ($0.key, $0.value) }, body: call.body)
    }
}

extension HTTPAnswer {
    var isJSON: Bool { header("content-type") == "application/json; charset=utf-8" && !object.isEmpty }

    var isXML: Bool {
        header("content-type") == "application/xml; charset=utf-8" && text.hasPrefix(#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#)
    }

    var isHTML: Bool { header("content-type")?.hasPrefix("text/html") == true }

    /// `error` of an OAuth answer.
    var oauthError: String? { object["error"] as? String }

    /// The text of the first element of that name of an XML answer.
    func element(_ name: String) -> String? {
        guard let start = text.range(of: "<\(name)>"), let end = text.range(of: "</\(name)>") else {
            return text.contains("<\(name)/>") ? "" : nil
        }
        return String(text[start.upperBound..<end.lowerBound])
    }

    /// Base64 of a JSON object under a key of `info`.
    func decodedInfo(_ key: String) -> [UInt8]? {
        let info = object["info"] as? [String: Any]
        return (info?[key] as? String).flatMap { Data(base64Encoded: $0) }.map { Array($0) }
    }
}
