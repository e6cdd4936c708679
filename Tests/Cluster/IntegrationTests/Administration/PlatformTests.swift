@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    @Suite("Values by platform")
    struct PlatformTests {
        private static let path = "/integrations/ACME1/LakeTel"

        @Test("dashboard #16: a TTL set for Roku is taken there alone; without it the inherited one is back, and the source follows")
        func ownValue() async throws {
            let local = try await Administrator.fresh()
            let inherited = try await effective(local)
            try await override([["scope": "roku", "authnTtl": 604_800]], local)
            let own = try await effective(local)
            #expect(own("roku").value == 604_800 && own("roku").source != inherited("roku").source, "\(own("roku"))")
            #expect(own("tvos") == inherited("tvos"))
            try await override([], local)
            let back = try await effective(local)
            #expect(back("roku") == inherited("roku"))
        }

        @Test("dashboard #18: a category's value reaches its platforms without one of their own, and no sibling")
        func category() async throws {
            let local = try await Administrator.fresh()
            let inherited = try await effective(local)
            try await override([["scope": "tv", "authnTtl": 86_400], ["scope": "roku", "authnTtl": 604_800]], local)
            let changed = try await effective(local)
            for platform in ["tvos", "fireTv"] { #expect(changed(platform).value == 86_400, "\(platform)") }
            #expect(changed("roku").value == 604_800)
            for platform in ["desktop", "ios", "android", "mobile"] { #expect(changed(platform) == inherited(platform), "\(platform)") }
        }

        @Test("dashboard #19: single sign-on for the desktop is refused")
        func desktop() async throws {
            let local = try await Administrator.fresh()
            let answer = try await local.change(Self.path) { $0["platformOverrides"] = [["scope": "desktop", "platformSso": "on"]] }
            #expect(answer.status == 422 && answer.problemFields.contains { $0.hasPrefix("platformOverrides") }, "\(answer.text)")
        }

        private struct Value: Equatable {
            let value: Int?
            let source: String?
        }

        private func override(_ overrides: [[String: Any]], _ local: Administrator) async throws {
            let answer = try await local.change(Self.path) { $0["platformOverrides"] = overrides.isEmpty ? nil : overrides }
            try #require(answer.status == 200, "\(answer.text)")
        }

        /// The AuthN TTL of each platform.
        private func effective(_ local: Administrator) async throws -> (String) -> Value {
            let answer = try await local.send("GET", Self.path)
            let scopes = try #require(answer.object["effective"] as? [String: [String: [String: Any]]], "\(answer.text)")
            let values = scopes.compactMapValues { $0["authnTtl"] }.mapValues { Value(value: $0["value"] as? Int, source: $0["source"] as? String) }
            return { values[$0] ?? Value(value: nil, source: nil) }
        }
    }
}
