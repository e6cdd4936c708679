internal import FoundationEssentials

/// `POST /account/v1/autoSignIn/update` and `/delete` of one store; every answer is empty.
struct StoreKitEndpoint: Sendable {
    let memory: AppleMemory
    let store: AppleStore

    private struct Update: Decodable {
        let existingAutoSignInTokenValue: String
        let newAutoSignInTokenValue: String
    }

    private struct Delete: Decodable {
        let autoSignInTokenValue: String
    }

    func update(_ request: AppleRequest) -> AppleAnswer {
        answer(request, Update.self) { order, bundleID, content in
            content.secrets.add(value: order.newAutoSignInTokenValue)
            return content.tokens.replace(
                order.existingAutoSignInTokenValue, with: order.newAutoSignInTokenValue, of: bundleID, in: store, at: request.now)
        }
    }

    func delete(_ request: AppleRequest) -> AppleAnswer {
        answer(request, Delete.self) { order, bundleID, content in
            content.tokens.delete(order.autoSignInTokenValue, of: bundleID, in: store, at: request.now)
        }
    }

    private func answer<Order: Decodable>(
        _ request: AppleRequest, _ type: Order.Type, _ act: (Order, String, inout AppleMemory.Content) -> Bool
    ) -> AppleAnswer {
        memory.access { content in
            let bundleID: String
            do throws(StoreKitToken.Refusal) {
                bundleID = try StoreKitToken.check(request.bearer, content.directory, now: request.now)
            } catch {
                return .empty(.unauthorized, outcome: "\(store.rawValue): \(error.reason)")
            }
            guard request.contentType == "application/json", let order = try? SettingsFault.decode(type, from: request.body) else {
                return .empty(.badRequest, outcome: "\(store.rawValue): the body is not what it should be")
            }
            let isKnown = act(order, bundleID, &content)
            return .empty(isKnown ? .noContent : .notFound, outcome: "\(store.rawValue): \(isKnown ? "done" : "no such value")")
        }
    }
}
