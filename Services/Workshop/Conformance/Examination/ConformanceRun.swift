/// Tries the requirements of a contract on one implementation.
public struct ConformanceRun: Sendable {
    private let subject: Subject
    private let requirements: [Requirement]

    /// - Parameter requirements: Those to try; by default all of the service's.
    public init(_ subject: Subject, requirements: [Requirement]? = nil) {
        self.subject = subject
        self.requirements = requirements ?? subject.service.requirements
    }

    /// - Parameter progress: Called with each result as it is there, in any order.
    public func run(progress: @escaping @Sendable (RequirementResult) -> Void = { _ in }) async -> ConformanceReport {
        var results = await withTaskGroup(of: [RequirementResult].self) { group in
            for requirement in requirements where requirement.isIndependent {
                group.addTask { [await Self.try(requirement, on: subject, progress)] }
            }
            group.addTask {
                var results: [RequirementResult] = []
                for requirement in requirements where !requirement.isIndependent && !requirement.isDisruptive {
                    results.append(await Self.try(requirement, on: subject, progress))
                }
                return results
            }
            return await group.reduce(into: [String: RequirementResult]()) { all, results in
                for result in results { all[result.id] = result }
            }
        }
        for requirement in requirements where requirement.isDisruptive {
            results[requirement.id] = await Self.try(requirement, on: subject, progress)
        }
        return ConformanceReport(
            service: subject.service.rawValue, address: "\(subject.host):\(subject.port)", results: requirements.compactMap { results[$0.id] })
    }

    private static func `try`(
        _ requirement: Requirement, on subject: Subject, _ progress: @Sendable (RequirementResult) -> Void
    ) async -> RequirementResult {
        let examination = Examination(subject)
        let begin = ContinuousClock.now
        var failure: (any Error)?
        do {
            try await Examination.$patience.withValue(subject.patience) { try await requirement.check(examination) }
        } catch {
            failure = error
        }
        let took = begin.duration(to: .now).components
        let milliseconds = Int(took.seconds) * 1000 + Int(took.attoseconds / 1_000_000_000_000_000)
        let result = Self.result(of: requirement, failure, examination, milliseconds)
        progress(result)
        return result
    }

    private static func result(
        of requirement: Requirement, _ failure: (any Error)?, _ examination: Examination, _ milliseconds: Int
    ) -> RequirementResult {
        func result(_ verdict: RequirementResult.Verdict) -> RequirementResult {
            RequirementResult(
                id: requirement.id, sentence: requirement.sentence, source: requirement.source, verdict: verdict, milliseconds: milliseconds)
        }
        switch failure {
        case nil: return result(.passed)
        case let failure as NotApplicable:
            var result = result(.notApplicable)
            result.reason = VisibleText.text(failure.reason)
            return result
        case let failure?:
            let unmet = failure as? Unmet ?? Unmet(requirement.sentence, came: "\(failure)")
            var result = result(.failed)
            result.expected = VisibleText.text(unmet.expected)
            result.came = VisibleText.text(unmet.came)
            result.sent = examination.lastSent.map(VisibleText.text)
            result.answered = examination.lastCame.map(VisibleText.text)
            return result
        }
    }
}
