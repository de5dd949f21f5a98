"""Stop words by language: what people write around the words they look for."""

from typing import Final

STOP_WORDS: Final = {
    "english": """
        a about all also am an and any are as at be because been being but by can could did do does doing don
        for from get give had has have having he her here hers him his how i if in into is it its just like ll
        m make me more most my no nor not of on or our out re s say says should show so some such t tell than
        that the their them then there these they this those to too us use ve very was we were what when where
        which while who whom whose why will with would you your
    """,
    "german": """
        aber alle als also am an auch auf aus bei bin bis da damit das dass dem den der des dich die dies
        diese dieser doch du durch ein eine einem einen einer eines er es für gibt haben hat ich ihr im in ist
        ja kann kein keine man mein mich mir mit nach nicht noch nur oder ohne sein sich sie sind so um und
        uns unter vom von vor war warum was welche welcher welches wenn wer werden wie wir wird wo wurde zu
        zum zur über
    """,
    "french": """
        au aux avec c ce ces cet cette comment d dans de des du elle elles en est et eux fait ici il ils je l
        la le les leur leurs lui ma mais me mes moi mon n ne nos notre nous on ont ou où par pas plus pour
        pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses son sont sur ta te tes toi
        ton tu un une vos votre vous y à
    """,
    "spanish": """
        a al algo ante como con cual cuales cuando cuanta cuantas cuanto cuantos cuál cuáles cuándo cuánta
        cuántas cuánto cuántos cómo de del desde donde dónde e el ella en entre era es esa ese eso esta este
        esto está están fue ha han hay la las le les lo los me mi mis muy más no nos o para pero por porque
        que quien quienes quién quiénes qué se según ser si sin sobre son su sus sí también te tiene tu un una
        unas uno unos y ya yo él
    """,
    "italian": """
        a ad ai al alla alle anche che chi ci come con cosa così cui da dal dalla dei del della delle di dove
        e ed era fra gli ha hanno ho i il in io l la le lei lo loro lui ma mi mio nei nel nella non o per
        perché più qual quale quali quando quanto questa questo se si sono su sua sul sulla suo ti tra tu un
        una uno è
    """,
    "portuguese": """
        a ao aos as com como da das de do dos e ela ele em entre era essa esse esta este está eu foi há isso
        isto já lhe mais mas me mesmo meu minha muito na nas no nos num numa não o onde os ou para pela pelo
        por porque quais qual quando que quem se sem ser seu sua são só também te tem um uma você às é
    """,
    "dutch": """
        aan al als bij dan dat de der deze die dit door dus een en er geen had heb hebben heeft het hij hoe
        hun ik in is je kan maar me met mijn naar niet nog nu of om onder ook op over te tot uit van veel voor
        waar waarom was wat we wel welke werd wie wij wordt zal ze zich zij zijn zo zonder
    """,
    "russian": """
        а без более бы был была были было быть в вам вас во вот все всё вы где да для до его ее если есть еще
        ещё её же за и из или им их к как какая какие какой ко когда кто ли меня мне мой мы на над не него нет
        но о об он она они от по под почему при с со так такой там то того тоже только том ты у уже чем что
        чтобы это этот я
    """,
    "hindi": """
        अपना अपनी अपने आप इन इस उन उस उसका उसकी उसके एक ऐसा ऐसे और कब कहाँ का कि किस किसने किसी की कितना कितनी
        कितने कुछ के कैसा कैसी कैसे को कोई कौन कौनसा क्या क्यों जब जहाँ जैसे जो तक तब तो था थी थे द्वारा नहीं ने पर
        फिर बाद भी मुझे में मेरा मेरी मेरे मैं यदि यह यहाँ या ये रहा रही रहे लिए लेकिन वह वहाँ वाला वाली वाले वे
        सकता सकती सकते साथ से हम हर ही हुआ हुई हुए हूँ है हैं हो होता होती होते होना
    """,
}
