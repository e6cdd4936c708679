import ContractConformance
import Testing

/// The requirements of config accept a double that keeps them, over restarts too, and reject services that break one.
@Suite("Config and its mutants")
struct ConfigMutantTests {
    @Test func aGoodDoubleMeetsEveryRequirement() async throws {
        let ids = ExaminedService.config.requirements.map(\.id).filter { $0.hasPrefix("CONFIG-") }
        let results = await (try await ExaminedConfig()).examine(ids)
        #expect(results.count == ids.count)
        for result in results.values {
            #expect(result.verdict == .passed, "\(result.id): \(result.details)")
        }
    }

    @Test(arguments: ConfigMutant.all)
    func aMutantFails(_ mutant: ConfigMutant) async throws {
        let results = await (try await ExaminedConfig(mutant)).examine(mutant.breaks)
        #expect(!mutant.breaks.isEmpty && results.count == mutant.breaks.count)
        for result in results.values {
            #expect(result.verdict == .failed, "\(result.id) must fail")
            #expect(result.expected?.isEmpty == false && result.came?.isEmpty == false)
        }
    }
}
