internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// `/api/v1/tokens/usermetadata`: what an app may know of the person (rest-v1 §3.19).
struct MetadataEndpoint: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    private static let rules = DeviceCallReader.Rules(requestorIsOptional: true)

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let call = try await reader.read(exchange, Self.rules) { _ throws(Fault) in }.call
        let metadata = try await dependencies.authentication.getUserMetadata(SessionRequest(call: call), context: exchange.call)
        guard !metadata.data.isEmpty else {
            // The list of codes has none for it: the body stays plain (rest-v1 §2.8).
            return Response(ErrorDocument.plain(status: 404, message: "Not Found", details: nil), format: exchange.format, status: .notFound)
        }
        return Response(Self.document(metadata), format: exchange.format)
    }

    static func document(_ metadata: UserMetadata) -> Document {
        let data = metadata.data.compactMap { entry in entry.value.map { Document.Member(entry.key, value($0)) } }
        return Document(
            "usermetadata",
            [
                .init("updated", .number(metadata.updatedAtSeconds)), .init("encrypted", .list(metadata.encrypted.map { .text($0) }, item: "key")),
                .init("data", .object(data)),
            ])
    }

    static func value(_ value: MetadataEntry.Value) -> Document.Value {
        switch value {
        case .text(let text): .text(text)
        case .flag(let flag): .flag(flag)
        case .number(let number): .number(number)
        case .list(let list): .list(list.values.map { .text($0) }, item: "value")
        case .map(let map): .object(map.entries.map { .init($0.key, .text($0.value)) })
        }
    }
}
