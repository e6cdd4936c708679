@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing
import TextEncodings

extension Browser {
    private static let peerStepLimit = 16

    /// Goes from the code through the peer's login form.
    /// - Returns: The page with the peer's message, which is not sent on; or where the way ended before.
    mutating func reachPeersAnswer(_ device: Device, mvpd: String, name: String, password: String? = nil) async throws -> Page {
        let query = FormEncoding.encode(device.signInParameters(try await device.code(), mvpd: mvpd).map { ($0.key, $0.value) })
        let start = "\(device.cluster.gateway)/api/v1/authenticate?\(query)"
        let page = try await walk(start) { page in
            if page.value("SAMLResponse") != nil { return true }
            if page.value("password") != nil {
                page.form.fill("username", name)
                page.form.fill("password", password ?? name)
            }
            return false
        }
        return try #require(page, "the way ended without an answer")
    }

    /// Follows redirects and presses the button of each form.
    /// - Returns: The page where `isThere` said so; `nil` when it stands at `end` first.
    mutating func walk(_ start: String, until end: String? = nil, isThere: (inout Page) -> Bool) async throws -> Page? {
        var (url, answer) = (start, try await visit(start))
        for _ in 0..<Self.peerStepLimit {
            if (300..<400).contains(answer.status) {
                url = try Self.resolve(try answer.location(), at: url)
                if let end, url.hasPrefix(end) { return nil }
                answer = try await visit(url)
                continue
            }
            try #require(answer.status == 200, "\(url): \(answer.status) \(answer.text)")
            var page = try form(answer, at: url)
            if isThere(&page) { return page }
            let target = try Self.resolve(page.form.action, at: url)
            answer = try await submit(page)
            url = target
        }
        throw CommandFailure("no end after \(Self.peerStepLimit) steps, at \(url)")
    }

    private static func resolve(_ reference: String, at base: String) throws -> String {
        try #require(URL(string: reference, relativeTo: URL(string: base))?.absoluteString)
    }
}
