import ContractRuntime
import Contracts
@testable import Frames

extension Mutation {
    /// One mutant for each kind of requirement.
    static let all: [Mutation] = [
        Mutation(
            description: "never goes away", answers: { frame in if case .goAway = frame.kind { [] } else { [frame] } }, staysOpen: true,
            breaks: [
                "WIRE-9", "WIRE-10", "WIRE-12", "WIRE-13", "WIRE-15", "WIRE-16", "WIRE-17", "WIRE-18", "WIRE-23", "WIRE-24", "WIRE-25", "WIRE-27",
                "WIRE-30", "WIRE-31", "WIRE-36",
            ]),
        Mutation(description: "goes away and stays", staysOpen: true, breaks: ["WIRE-9", "WIRE-13", "WIRE-15", "WIRE-16"]),
        Mutation(
            description: "says hello last",
            answers: { frame in if case .hello = frame.kind { [Frame(kind: .ping(Ping(nonce: 1))), frame] } else { [frame] } },
            breaks: ["WIRE-6", "WIRE-7"]),
        Mutation(
            description: "has a small hello",
            answers: { frame in
                guard case .hello(var hello) = frame.kind else { return [frame] }
                (hello.maxFrameBytes, hello.services) = (512, [])
                return [Frame(kind: .hello(hello))]
            }, breaks: ["WIRE-7", "WIRE-8"]),
        Mutation(
            description: "answers pings with another nonce",
            answers: { frame in if case .pong(let pong) = frame.kind { [Frame(kind: .pong(Pong(nonce: pong.nonce / 2)))] } else { [frame] } },
            breaks: ["WIRE-21", "WIRE-26"]),
        Mutation(
            description: "answers twice", answers: { frame in if case .response = frame.kind { [frame, frame] } else { [frame] } },
            breaks: ["WIRE-28", "WIRE-20"]),
        Mutation(
            description: "has one fault for everything", answers: { $0.withFault { $0.code = "internal" } },
            breaks: ["WIRE-32", "WIRE-38", "WIRE-39", "WIRE-40", "WIRE-41", "WIRE-58", "CONFIG-3", "CONFIG-21", "CONFIG-22"]),
        Mutation(
            description: "says the wrong things may be tried again", answers: { $0.withFault { $0.retryable.toggle() } },
            breaks: ["WIRE-32", "WIRE-38"]),
        Mutation(
            description: "knows no deadline",
            requests: { frame in
                guard case .request(var request) = frame.kind else { return [frame] }
                request.timeoutMicroseconds = 0
                return [Frame(kind: .request(request))]
            }, breaks: ["WIRE-32", "WIRE-49"]),
        Mutation(
            description: "ignores cancels", requests: { frame in if case .cancel = frame.kind { [] } else { [frame] } },
            breaks: ["WIRE-34", "WIRE-36"]),
        Mutation(
            description: "refuses every cancel",
            requests: { frame in if case .cancel = frame.kind { [Frame(kind: .cancel(Cancel(callID: 99_999)))] } else { [frame] } },
            breaks: ["WIRE-34", "WIRE-35", "WIRE-48"]),
        Mutation(
            description: "loses items", answers: { frame in if case .streamItem = frame.kind { [] } else { [frame] } },
            breaks: ["WIRE-47", "WIRE-54", "CONFIG-4", "CONFIG-6", "CONFIG-7", "CONFIG-8"]),
        Mutation(
            description: "sends each item twice", answers: { frame in if case .streamItem = frame.kind { [frame, frame] } else { [frame] } },
            breaks: ["WIRE-47", "CONFIG-6", "CONFIG-10"]),
        Mutation(
            description: "has empty answers",
            answers: { frame in
                guard case .response(let response) = frame.kind, case .payload = response.outcome else { return [frame] }
                return [Frame(kind: .response(Response(callID: response.callID, outcome: .payload([]))))]
            }, breaks: ["WIRE-20", "WIRE-53", "WIRE-55", "WIRE-56", "WIRE-57", "CONFIG-1", "CONFIG-17"]),
        Mutation(
            description: "sends the version that the caller has",
            requests: { frame in
                guard case .request(var request) = frame.kind, request.method == "WatchConfiguration" else { return [frame] }
                request.payload = []
                return [Frame(kind: .request(request))]
            }, breaks: ["CONFIG-5"]),
        Mutation(
            description: "thinks that a greater version is the newest",
            requests: { frame in
                guard case .request(let request) = frame.kind, request.method == "WatchConfiguration", !request.payload.isEmpty else {
                    return [frame]
                }
                return []
            }, breaks: ["CONFIG-6", "CONFIG-7"]),
        Mutation(
            description: "counts its answers as versions",
            answers: { frame in
                guard case .response(var response) = frame.kind, case .payload(let bytes) = response.outcome,
                    var configuration = try? Configuration(serialized: bytes), configuration.version > 0
                else { return [frame] }
                configuration.requestors.append(Requestor(id: "call-\(response.callID)"))
                response.outcome = .payload((try? configuration.serialized()) ?? [])
                return [Frame(kind: .response(response))]
            }, breaks: ["CONFIG-2", "CONFIG-4"]),
        Mutation(
            description: "issues statements of another key",
            answers: { frame in
                guard case .response(var response) = frame.kind, case .payload(let bytes) = response.outcome,
                    var statement = try? SoftwareStatement(serialized: bytes), statement.statement.hasPrefix("ey")
                else { return [frame] }
                statement.statement = String(statement.statement.dropLast(8)) + "AAAAAAAA"
                response.outcome = .payload((try? statement.serialized()) ?? [])
                return [Frame(kind: .response(response))]
            }, breaks: ["CONFIG-18", "CONFIG-20"]),
        Mutation(
            description: "issues statements of an unknown id",
            answers: { frame in
                guard case .response(var response) = frame.kind, case .payload(let bytes) = response.outcome,
                    var statement = try? SoftwareStatement(serialized: bytes), statement.statement.hasPrefix("ey")
                else { return [frame] }
                statement.softwareID = "another"
                response.outcome = .payload((try? statement.serialized()) ?? [])
                return [Frame(kind: .response(response))]
            }, breaks: ["CONFIG-18", "CONFIG-19"]),
    ]
}

extension Frame {
    /// The same with the fault changed, where it has one.
    func withFault(_ change: (inout WireFault) -> Void) -> [Frame] {
        switch kind {
        case .response(var response):
            guard case .fault(var fault) = response.outcome else { return [self] }
            change(&fault)
            response.outcome = .fault(fault)
            return [Frame(kind: .response(response))]
        case .streamEnd(var end):
            guard var fault = end.fault else { return [self] }
            change(&fault)
            end.fault = fault
            return [Frame(kind: .streamEnd(end))]
        default: return [self]
        }
    }
}
