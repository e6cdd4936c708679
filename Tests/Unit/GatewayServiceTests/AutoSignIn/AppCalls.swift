internal import Contracts
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird

/// Calls of Automatic Sign-In as apps and backends make them.
extension TestGateway {
    static let deviceIdentifier = "fingerprint " + Data("dev-7f3a".utf8).base64EncodedString()
    static let value = "asi1.\(String(repeating: "a", count: 22)).\(String(repeating: "b", count: 43))"

    /// Bearer, device headers and a key.
    static var app: HTTPFields {
        [
            .authorization: "Bearer good", .apDeviceIdentifier: deviceIdentifier, .deviceInfo: deviceInformation, .idempotencyKey: "key-1",
            .contentType: "application/json",
        ]
    }

    /// Bearer and a key.
    static var backend: HTTPFields { [.authorization: "Bearer good", .idempotencyKey: "key-1", .contentType: "application/json"] }

    /// Posts JSON under `/auto-signin/v1/ACME1/`.
    func post(_ path: String, json: String, _ headers: HTTPFields = Self.app) async throws -> Reply {
        try await send(.post, "/auto-signin/v1/ACME1/\(path)", headers, body: json)
    }

    static let session = StreamingSession(
        id: "s9", accountID: "a1", context: .auto, scopes: ["stream:play", "stream:progress", "watchlist:read", "watchlist:write"],
        expiresAtMilliseconds: 1_930_384_800_123,
        tv: AutomaticSession(
            session: Session(
                id: "s9", requestor: "ACME1", mvpd: "NorthCable", userID: String(repeating: "ab", count: 32),
                createdAtMilliseconds: 1_930_384_000_000, expiresAtMilliseconds: 1_930_384_800_123, kind: .automatic),
            metadata: UserMetadata(
                updatedAtSeconds: 1_930_384_000, encrypted: ["maxRating"],
                data: [
                    MetadataEntry(key: "userID", value: .text("u-4471")),
                    MetadataEntry(key: "channelID", value: .list(TextList(values: ["c1", "c2"]))),
                    MetadataEntry(key: "maxRating", value: .text("Q2lwaGVy")),
                ])))
}
