internal import BridgeClient
internal import Contracts
internal import Faults
internal import OutboundHttp
internal import Synchronization

/// Makes a call with a bearer that holds: one that upstream does not take is renewed, and the call made once more (bridge §4.2).
struct BridgeCaller: Sendable {
    let line: BridgeLine
    let slots: BridgeSlots

    func ask<Value: Sendable>(
        _ call: BridgeCall, by client: BridgeClientAt, for device: BridgeDevice?, _ patience: BridgePatience,
        _ read: (OutboundAnswer) throws(BridgeFailure) -> Value
    ) async throws(BridgeTrouble) -> Value {
        var isRepetition = false
        while true {
            let bearer = try await slots.bearer(client, for: device, patience)
            do throws(BridgeTrouble) {
                return try await line.ask(call, bearer: bearer.token, for: device, at: client.upstream, patience, read)
            } catch {
                switch error {
                case .failure(.unauthorized):
                    await slots.unauthorized(client, bearer, isRepetition: isRepetition)
                    if isRepetition { throw error }
                    isRepetition = true
                case .failure(.refused(let refusal)) where refusal.code == "invalid_client":
                    await slots.clientRefused(client)
                    throw client.name.isDevices ? .clientLost : error
                default: throw error
                }
            }
        }
    }
}

/// What a part of the bridge knows beside the store, for all who hold a copy of the part.
final class BridgeMemory<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: sending Value) { mutex = Mutex(value) }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { value in body(&value) }
    }
}
