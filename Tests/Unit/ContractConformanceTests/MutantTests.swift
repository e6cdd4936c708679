import ContractConformance
import ContractRuntime
import Contracts
import Testing
@testable import Frames

/// The suite rejects implementations that break the contract, and accepts one that keeps it.
@Suite("Mutants")
struct MutantTests {
    @Test func aGoodDoubleMeetsEveryRequirement() async throws {
        let report = await (try await ExaminedDouble()).examine()
        let failed = report.results.filter { $0.verdict == .failed }
        #expect(failed.isEmpty, "\(failed.map { "\($0.id): \($0.details)" })")
        // A double takes more calls at a time than the examiner sends.
        #expect(report.results.filter { $0.verdict == .notApplicable }.map(\.id) == ["WIRE-43"])
        #expect(report.isConforming)
    }

    // Each answer has to come in 8 s.
    @Test(.tags(.timing)) func aProxyThatChangesNothingHarmsNothing() async throws {
        let ids = ["WIRE-8", "WIRE-20", "WIRE-26", "WIRE-38", "WIRE-47", "CONFIG-4", "CONFIG-9", "CONFIG-18"]
        let report = await (try await ExaminedDouble(behind: Mutation(description: "none", breaks: []))).examine(ids)
        #expect(report.count(.passed) == ids.count, "\(report.results.filter { $0.verdict != .passed })")
    }

    // A message that must not come is waited for: on a busy machine it comes later than that.
    @Test(.tags(.timing), arguments: Mutation.all)
    func aMutantOfTheWireFails(_ mutation: Mutation) async throws {
        let report = await (try await ExaminedDouble(behind: mutation)).examine(mutation.breaks)
        #expect(!mutation.breaks.isEmpty && report.results.count == mutation.breaks.count)
        for result in report.results {
            #expect(result.verdict == .failed, "\(result.id) must fail")
            #expect(result.expected?.isEmpty == false && result.came?.isEmpty == false)
        }
    }

    @Test(arguments: BrokenCatalogue.all)
    func aBrokenCatalogueFails(_ broken: BrokenCatalogue) async throws {
        var configuration = try SampleCatalogue.configuration()
        broken.change(&configuration)
        let report = await (try await ExaminedDouble(configuration)).examine([broken.id])
        #expect(report.results.map(\.verdict) == [.failed])
    }
}

/// A catalogue that breaks one rule.
struct BrokenCatalogue: Sendable, CustomStringConvertible {
    let description: String
    let id: String
    let change: @Sendable (inout Configuration) -> Void

    static let all: [BrokenCatalogue] = [
        BrokenCatalogue(description: "version 0", id: "CONFIG-1") { $0.version = 0 },
        BrokenCatalogue(description: "seconds for milliseconds", id: "CONFIG-1") { $0.changedAtMilliseconds /= 1000 },
        BrokenCatalogue(description: "an id twice", id: "CONFIG-12") { $0.requestors.append($0.requestors[0]) },
        BrokenCatalogue(description: "an empty id", id: "CONFIG-12") { $0.mvpds.append(Mvpd()) },
        BrokenCatalogue(description: "an unknown programmer", id: "CONFIG-13") { $0.requestors[0].programmerID = "nobody" },
        BrokenCatalogue(description: "an integration of an unknown MVPD", id: "CONFIG-13") { $0.integrations[0].mvpdID = "Nowhere" },
        BrokenCatalogue(description: "no way to sign in", id: "CONFIG-14") { $0.mvpds[0].signIn = nil },
        BrokenCatalogue(description: "no certificate", id: "CONFIG-15") { $0.mvpds[0].signIn = .saml(SamlEndpoint()) },
        BrokenCatalogue(description: "bytes for a certificate", id: "CONFIG-15") {
            $0.mvpds[0].signIn = .saml(SamlEndpoint(signingCertificates: [[1, 2]]))
        },
        BrokenCatalogue(description: "tokens of two hours", id: "CONFIG-16") { $0.requestors[0].mediaTokenTtlSeconds = 7200 },
        BrokenCatalogue(description: "another certificate's id", id: "CONFIG-16") {
            $0.programmers[0].certificates = [Certificate(id: "00", der: [1])]
        },
    ]
}
